// Prints whether msgpackr's native part is in use, and a digest of what encoding and decoding many texts gave.
import { createHash } from 'node:crypto'
import { isNativeAccelerationEnabled } from 'msgpackr'
import { decodePayload, encodePayload } from '../../../src/events/codec.ts'

const digest = createHash('sha256')
for (const piece of ['a', 'é', '漢', '🎉', '\0', '\ufeff', '\ud800', '\uffff'])
  for (let length = 0; length < 300; length++) {
    const text = piece.repeat(length)
    const payload = encodePayload({ text, [text]: [`${text}x`, piece, 'plain'], end: 1 }, 'value')
    digest.update(payload)
    digest.update(Buffer.from(JSON.stringify(decodePayload(payload))))
  }
console.log(JSON.stringify({ isNative: isNativeAccelerationEnabled, digest: digest.digest('hex') }))
