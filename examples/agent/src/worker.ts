// A worker of the demo. With AGENT_HANG it stops after the effect of that tool, until it is killed.
import { join } from 'node:path'
import { createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { appendLine } from '../../shared/src/json-lines.ts'
import { createDesk } from './desk.ts'
import { Services } from './services.ts'

const folder = process.env['AGENT_FOLDER'] ?? ''
const desk = createDesk({
  services: new Services(join(folder, 'services.jsonl')),
  onCall: (turn) => appendLine(join(folder, 'calls.jsonl'), { turn }),
  async afterEffect(tool) {
    console.log(`did: ${tool}`)
    if (process.env['AGENT_HANG'] === tool) await new Promise(() => {})
  },
})
await createEngine({ store: sqlite(join(folder, 'agent.db')), procedures: [desk], lease: '1s' })
console.log('working')
process.on('disconnect', () => process.exit())
