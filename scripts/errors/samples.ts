import type { ErrorDetails, Failure } from '../../packages/core/src/errors/error-details.ts'

const cause: Failure = { name: 'Error', message: 'card declined', code: 'declined' }
const issues = { issues: [{ path: 'amount', message: 'expected number, received string' }] }

/** Details as an error may carry them, for the message on its page. */
export const samples: ErrorDetails = {
  'answer-forbidden': { ask: 'refund:A-1/1' },
  'answer-invalid': issues,
  'ask-closed': { status: 'answered', winner: { by: 'user:bob', at: new Date('2026-01-01T09:00:00Z') } },
  'ask-not-found': { ask: 'refund:A-1/1' },
  'ask-timed-out': { ask: 'refund:A-1/1', message: 'Refund 45 EUR?' },
  cancelled: { reason: 'the order was withdrawn' },
  'consent-outdated': {
    ...{ action: 'refund', why: 'facts', attempted: true, verdict: 'human', by: 'policy:gate' },
  },
  'duration-invalid': { text: '1m30s' },
  'engine-stopped': {},
  'export-invalid': { reason: 'the part that begins at byte 8 does not match its digest' },
  'foreign-await': {
    run: 'refund:A-1',
    after: 'load',
    what: 'it waits, but for no operation; it used setTimeout()',
  },
  'id-taken': { id: 'refund:A-1' },
  'input-invalid': issues,
  'log-full': { run: 'order:7', events: 1_000_000 },
  nondeterminism: { position: 2, recorded: 'step "pack"', asked: 'step "wrap"', at: 'src/order.ts:12:9' },
  'nondeterministic-call': { call: 'Date.now()', use: 'ctx.now()' },
  'option-invalid': { option: 'concurrency of createEngine', given: '0' },
  'output-invalid': issues,
  'payload-invalid': issues,
  'payload-refused': { path: 'result.items[0].print' },
  'plan-invalid': { issues: [{ path: 'tasks[1].needs[0]', message: "there is no task 'draft'" }] },
  'policy-refused': { step: 'delete files', verdict: 'human' },
  'procedure-broken': {
    run: 'refund:A-1',
    cause: { name: 'TypeError', message: 'order is undefined', code: undefined },
    at: 'src/order.ts:12:9',
  },
  'procedure-duplicate': { procedure: 'refund' },
  'procedure-unknown': { procedure: 'refund' },
  'run-cancelled': { run: 'refund:A-1', reason: 'the order was withdrawn' },
  'run-ended': { run: 'refund:A-1', status: 'completed' },
  'run-failed': { run: 'refund:A-1', cause },
  'family-full': { root: 'crawl:1', limit: 100_000 },
  'run-busy': { run: 'refund:A-1', after: '10s' },
  'run-live': { run: 'refund:A-1', status: 'waiting' },
  'run-not-found': { run: 'refund:A-1' },
  'run-rolled-back': { run: 'refund:A-1' },
  'run-quarantined': { run: 'refund:A-1', reason: 'its workers crashed 5 times' },
  'run-shared': { run: 'parcel:7', original: 'order:7' },
  'step-failed': { step: 'charge card', attempts: 3, cause },
  'step-timed-out': { step: 'charge card', after: '30s' },
  'store-unusable': { remedy: 'Free some space on the disk, and start again.' },
  'update-refused': {
    run: 'order:7',
    update: 'rename',
    cause: { name: 'Error', message: 'it has that title', code: undefined },
  },
  'update-unfinished': { run: 'order:7', update: 'charge', status: 'completed' },
  'version-gone': { run: 'refund:A-1', change: 'vat', recorded: 1, offered: [2, 3] },
  'wait-timed-out': { after: '5s' },
}
