import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/**
 * What happens to a request. `swallow`: it is carried out, and the connection dies in place of the reply.
 * `late`: the connection dies first, and the request still arrives. `lose`: it never arrives. `stall`: nothing
 * happens any more, and the connection stays open.
 */
export type Fate = 'pass' | 'swallow' | 'late' | 'lose' | 'stall'

export interface ProxyOptions {
  readonly targetPort: number
  /** Decides about each request by the text of its statements. Default: all pass. */
  readonly decide?: (text: string) => Fate
  /** What a late request waits for. Default: 20 ms. */
  readonly delay?: () => Promise<unknown>
}

/** Stands between a client and a PostgreSQL server, reads along, and does what networks do. */
export class TcpProxy {
  /** Where to connect to; may be changed, as when a standby takes over. */
  targetPort: number
  decide: (text: string) => Fate
  delay: () => Promise<unknown>
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor({ targetPort, decide, delay }: ProxyOptions) {
    this.targetPort = targetPort
    this.decide = decide ?? (() => 'pass')
    this.delay = delay ?? (() => setTimeout(20))
    this.#server = createServer((client) => this.#accept(client))
  }

  static async start(options: ProxyOptions): Promise<TcpProxy> {
    const proxy = new TcpProxy(options)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async stop(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client: Socket): void {
    const server = dial(this.targetPort, '127.0.0.1')
    const requests = new Requests()
    let isGone = false
    let isSwallowing = false
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => this.#sockets.delete(socket))
    }
    const hangUp = () => {
      isGone = true
      client.destroy()
    }
    server.on('data', (data) => {
      if (isSwallowing) {
        hangUp()
        server.end()
      } else if (!isGone) client.write(data)
    })
    server.on('close', () => client.destroy())
    client.on('close', () => !isGone && server.destroy())
    client.on('data', (data) => {
      for (const { bytes, text } of requests.read(data)) {
        if (isGone) return
        switch (text === null ? 'pass' : this.decide(text)) {
          case 'pass':
            server.write(bytes)
            break
          case 'swallow':
            isSwallowing = true
            server.write(bytes)
            break
          case 'late':
            hangUp()
            void this.delay().then(() =>
              server.write(bytes, () => void setTimeout(200).then(() => server.end())),
            )
            break
          case 'lose':
            hangUp()
            server.destroy()
            break
          case 'stall':
            break
        }
      }
    })
  }
}

/** A stretch of what a client sends, up to the point where it waits for a reply. */
interface Request {
  readonly bytes: Buffer
  /** The statements it executes; null before the session has begun. */
  readonly text: string | null
}

/** Reads the client's side of the protocol. */
class Requests {
  readonly #prepared = new Map<string, string>()
  #buffer = Buffer.alloc(0)
  #hasStarted = false
  #pending: Buffer[] = []
  #texts: string[] = []

  read(data: Buffer): readonly Request[] {
    this.#buffer = Buffer.concat([this.#buffer, data])
    const requests: Request[] = []
    for (;;) {
      const message = this.#nextMessage()
      if (!message) return requests
      this.#pending.push(message)
      if (!this.#hasStarted) {
        this.#hasStarted = true
        requests.push(this.#finish(null))
      } else if (this.#note(message)) requests.push(this.#finish(this.#texts.join(';')))
    }
  }

  #nextMessage(): Buffer | undefined {
    const offset = this.#hasStarted ? 1 : 0
    if (this.#buffer.length < offset + 4) return undefined
    const length = offset + this.#buffer.readInt32BE(offset)
    if (this.#buffer.length < length) return undefined
    const message = this.#buffer.subarray(0, length)
    this.#buffer = this.#buffer.subarray(length)
    return message
  }

  /** Whether the client now waits for a reply. */
  #note(message: Buffer): boolean {
    const kind = String.fromCharCode(message[0] ?? 0)
    const [first = '', second = ''] = message.toString('latin1', 5).split('\0')
    if (kind === 'P') this.#prepared.set(first, second)
    if (kind === 'B') this.#texts.push(this.#prepared.get(second) ?? '')
    if (kind === 'Q') this.#texts.push(first)
    return kind === 'S' || kind === 'Q' || kind === 'X' || kind === 'p'
  }

  #finish(text: string | null): Request {
    const bytes = Buffer.concat(this.#pending)
    this.#pending = []
    this.#texts = []
    return { bytes, text }
  }
}
