import { ServerError } from './problem.ts'

const contentType = 'application/octet-stream'

/**
 * Returns the bytes of a request as they arrive. Their number is not limited.
 * @throws ServerError 'request-invalid': 415 with another content type
 */
export function readBytes(request: Request): AsyncIterable<Uint8Array> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== contentType)
    throw new ServerError('request-invalid', `The content type must be \`${contentType}\`.`, { status: 415 })
  return (request.body ?? nothing()) as AsyncIterable<Uint8Array>
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/**
 * Replies with bytes as they are made. An error before the first of them is thrown; a later one breaks the connection off, so
 * that what has arrived does not look complete.
 */
export async function bytesReply(
  parts: AsyncIterable<Uint8Array>,
  hasBody: boolean,
  onFault: (error: unknown) => void,
): Promise<Response> {
  const reader = parts[Symbol.asyncIterator]()
  let next: IteratorResult<Uint8Array> | null = await reader.next()
  const headers = { 'content-type': contentType, 'content-disposition': 'attachment' }
  if (!hasBody) {
    await reader.return?.()
    return new Response(null, { headers })
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = next ?? (await reader.next())
        next = null
        if (done === true) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        onFault(error)
        controller.error(error)
      }
    },
    async cancel() {
      await reader.return?.()
    },
  })
  return new Response(body, { headers })
}
