import { durableModel } from '@pawl/ai-sdk'
import type { Ctx } from '@pawl/core'
import { MockLanguageModelV4 } from 'ai/test'

type Reply = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

/** Called when the script is asked for its next turn; the demo counts these calls. */
export type OnCall = (turn: number) => Promise<void>

/**
 * Returns the model of the desk: the one that `AGENT_MODEL` names, such as 'anthropic/claude-sonnet-4-5', or a script that
 * needs no key.
 */
export function chooseModel(ctx: Ctx, onCall: OnCall): ReturnType<typeof durableModel> {
  return durableModel(ctx, process.env['AGENT_MODEL'] || scriptedModel(onCall), { timeout: '2m' })
}

/** Looks the order up, notes the complaint, refunds the price, and says so: one call of a tool in each turn. */
function scriptedModel(onCall: OnCall): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    provider: 'script',
    modelId: 'desk',
    doGenerate: async ({ prompt }) => {
      const turn = prompt.filter(({ role }) => role === 'tool').length
      await onCall(turn)
      return turns[turn] ?? say('The customer has been told.')
    },
  })
}

const turns: readonly Reply[] = [
  callTool('lookUp', { order: 'A-1' }),
  callTool('writeNote', { order: 'A-1', note: 'The box arrived broken.' }),
  callTool('refund', { order: 'A-1', cents: 4_500 }),
]

function callTool(toolName: string, input: object): Reply {
  const call = {
    type: 'tool-call' as const,
    toolCallId: `call-${toolName}`,
    toolName,
    input: JSON.stringify(input),
  }
  return reply([call], 'tool-calls')
}

function say(text: string): Reply {
  return reply([{ type: 'text', text }], 'stop')
}

function reply(content: Reply['content'], unified: Reply['finishReason']['unified']): Reply {
  return {
    content,
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 20, text: 20, reasoning: 0 },
    },
    warnings: [],
  }
}
