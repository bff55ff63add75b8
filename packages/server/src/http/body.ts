import { countFields, countValues } from './parts.ts'
import { ServerError } from './problem.ts'

const maxBytes = 3 * 1024 * 1024
/** Schemas of authors and the codec of the store cost more by the values of a body than by its bytes. */
const maxValues = 50_000
const maxFields = 1_000

/**
 * Reads the JSON body of a request, counting its bytes while they arrive.
 * @throws ServerError 'request-invalid': 415 without a JSON content type, 413 beyond 3 MiB or 50,000 values
 */
export async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json')
    throw new ServerError('request-invalid', 'The content type must be `application/json`.', { status: 415 })
  const bytes = await readWhole(request)
  if (countValues(bytes, maxValues) > maxValues) throw tooMany(`${maxValues} values`)
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new ServerError('request-invalid', 'The body is not JSON.')
  }
}

/**
 * Reads the fields of a form without files.
 * @throws ServerError 'request-invalid': 415 with another content type, 413 beyond 3 MiB or 1,000 fields
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
  const bytes = await readWhole(request)
  if (countFields(bytes, maxFields) > maxFields) throw tooMany(`${maxFields} fields`)
  return new URLSearchParams(bytes.toString('utf8'))
}

function tooMany(limit: string): ServerError {
  return new ServerError('request-invalid', `The body has more than ${limit}.`, { status: 413 })
}

async function readWhole(request: Request): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > maxBytes)
      throw new ServerError('request-invalid', `The body is larger than ${maxBytes} bytes.`, { status: 413 })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
