import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as core from '../src/index.ts'

const values = [
  ...[
    'FinalError',
    'PawlError',
    'agent',
    'createClient',
    'createEngine',
    'decider',
    'duration',
    'procedure',
    'ref',
  ],
]
const types = [
  ...[
    'Actor',
    'Agent',
    'AgentCall',
    'AgentOps',
    'AgentSpec',
    'Answer',
    'Answered',
    'Approval',
    'ApproveOptions',
  ],
  ...[
    'Approved',
    'As',
    'Ask',
    'AskAddress',
    'AskKind',
    'AskOptions',
    'AskStatus',
    'Audience',
    'Choice',
    'Client',
  ],
  ...[
    'Ctx',
    'CtxOf',
    'Deadline',
    'DecideOptions',
    'Decision',
    'Duration',
    'Engine',
    'EngineOptions',
    'ErrorCode',
  ],
  ...[
    'ErrorDetails',
    'Escalate',
    'ExecutionLog',
    'Failure',
    'Human',
    'Inbox',
    'InputOf',
    'Issue',
    'Logger',
    'NotApproved',
  ],
  ...[
    'Page',
    'ParsedOf',
    'PayloadOf',
    'Procedure',
    'ProcedureRef',
    'ProcedureSpec',
    'Question',
    'ReceiveOptions',
    'Received',
    'Refused',
    'Resolution',
  ],
  ...[
    'Retry',
    'Review',
    'RiskDetails',
    'RiskLevel',
    'RunFilter',
    'RunHandle',
    'RunOptions',
    'RunStatus',
    'RunView',
  ],
  ...[
    'Schema',
    'Section',
    'Severity',
    'Shown',
    'SignalName',
    'StepCall',
    'StepOptions',
    'Store',
    'Talk',
    'TalkOf',
    'Usage',
    'ValueOf',
    'ValuesFor',
    'Verdict',
    'Waiting',
  ],
]

test('the public entry point exports what it promises and nothing else', () => {
  expect(Object.keys(core).sort()).toEqual(values)
  expect(exportedNames().sort()).toEqual([...values, ...types].sort())
})

/** Types are gone at run time, so they are read from the source, which is a list of names. */
function exportedNames(): string[] {
  const source = readFileSync(new URL('../src/index.ts', import.meta.url), 'utf8')
  return [...source.matchAll(/^export (?:type )?\{(.*?)\} from/gms)].flatMap(([, names = '']) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== ''),
  )
}
