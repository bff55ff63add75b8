import { ServerError } from './problem.ts'

const maxBytes = 3 * 1024 * 1024

/**
 * Reads the JSON body of a request, counting its bytes while they arrive.
 * @throws ServerError 'request-invalid': 415 without a JSON content type, 413 beyond 3 MiB
 */
export async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json')
    throw new ServerError('request-invalid', 'The content type must be `application/json`.', { status: 415 })
  const text = await readText(request)
  try {
    return JSON.parse(text)
  } catch {
    throw new ServerError('request-invalid', 'The body is not JSON.')
  }
}

/**
 * Reads the fields of a form without files.
 * @throws ServerError 'request-invalid': 415 with another content type, 413 beyond 3 MiB
 */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new ServerError(
      'request-invalid',
      'The content type must be `application/x-www-form-urlencoded`.',
      {
        status: 415,
      },
    )
  return new URLSearchParams(await readText(request))
}

async function readText(request: Request): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > maxBytes)
      throw new ServerError('request-invalid', `The body is larger than ${maxBytes} bytes.`, { status: 413 })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
