import type { AddressInfo } from 'node:net'
import { createTransport } from 'nodemailer'
import { SMTPServer } from 'smtp-server'

/** A mail as it arrived, with its headers by name in lower case. */
export interface Arrived {
  readonly to: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** A real SMTP server on loopback, and a transport to it. */
export async function startMailServer() {
  const arrived: Arrived[] = []
  const state = { isDown: false, refused: 0 }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo(_address, _session, callback) {
      if (!state.isDown) return callback()
      state.refused += 1
      callback(Object.assign(new Error('Try later'), { responseCode: 451 }))
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        arrived.push(
          read(
            Buffer.concat(chunks).toString(),
            session.envelope.rcptTo.map(({ address }) => address),
          ),
        )
        callback()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true })
  return {
    ...{ arrived, state, transport },
    to: (address: string) => arrived.filter(({ to }) => to.includes(address)),
    [Symbol.asyncDispose]: async () => {
      transport.close()
      await new Promise<void>((resolve) => server.close(resolve))
    },
  }
}

function read(source: string, to: readonly string[]): Arrived {
  const [head = '', ...rest] = source.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const body = rest.join('\r\n\r\n')
  const isQuoted = headers['content-transfer-encoding'] === 'quoted-printable'
  return { to, headers, text: isQuoted ? unquote(body) : body }
}

function unquote(text: string): string {
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
