export interface SeenFrame {
  readonly id: number
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: frames of any stream
  readonly data: any
}

/** Reads the frames of a stream until it ends, as a browser does. */
export async function* readFrames(reply: Response): AsyncGenerator<SeenFrame> {
  let text = ''
  for await (const chunk of (reply.body ?? []) as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString('utf8')
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]))
      const data = fields.get('data')
      if (data !== undefined)
        yield {
          id: Number(fields.get('id')),
          event: fields.get('event') ?? 'message',
          data: JSON.parse(data),
        }
    }
  }
}
