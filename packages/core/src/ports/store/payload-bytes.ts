import { unreachable } from '../../base/unreachable.ts'
import type { Effect } from './log.ts'

/** Returns how many bytes of payload an effect writes. Transactions are bounded by their sum. */
export function payloadBytesOf(effect: Effect): number {
  switch (effect.do) {
    case 'open-ask':
      return effect.ask.payload.length + (effect.ask.answered?.payload.length ?? 0)
    case 'create-run':
      return effect.run.started.payload?.length ?? 0
    case 'send':
      return effect.message.payload?.length ?? 0
    case 'checkpoint':
      return effect.checkpoint.payload?.length ?? 0
    case 'notify':
      return effect.notice.payload.length
    case 'reply':
    case 'give-back':
    case 'expose':
      return effect.payload?.length ?? 0
    case 'show':
      return effect.info.length
    case 'close-ask':
    case 'consume':
    case 'begin-generation':
      return 0
    default:
      return unreachable(effect)
  }
}
