// A run that waits for a year, while its code is changed under it. Changes are checked before they are deployed.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Child, startChild } from '../../shared/src/child.ts'
import { tell } from '../../shared/src/tell.ts'

const folder = await mkdtemp(join(tmpdir(), 'pawl-deploy-'))
const ending = extname(import.meta.url)

/** The lines that a worker wrote, once it has ended. */
async function work(day: number, deploy: string, ...what: readonly string[]): Promise<readonly string[]> {
  const env = { DEPLOY_FOLDER: folder, DEPLOY_DAYS: String(day) }
  const worker = startChild('./worker', import.meta.url, { args: [deploy, ...what], env })
  const lines = await linesOf(worker, 0)
  for (const line of lines) {
    const [word = '', ...rest] = line.split(' ')
    tell.line(word, rest.join(' '))
  }
  return lines
}

/** Runs `pawl check` with the code of a deploy, and returns what it printed. */
async function check(deploy: string, status: number): Promise<string> {
  const code = fileURLToPath(new URL(`./code/${deploy}${ending}`, import.meta.url))
  const args = ['check', '--store', join(folder, 'members.db'), '--procedures', code]
  const pawl = ending === '.ts' ? '../../../packages/cli/src/bin' : '../../../../packages/cli/dist/bin'
  const lines = await linesOf(startChild(pawl, import.meta.url, { args }), status)
  tell.line('$', `pawl check --procedures ${deploy}${ending}`)
  for (const line of lines) tell.line('', line.trim().replaceAll('\t', '  '))
  tell.line('exit', String(status))
  return lines.join('\n')
}

async function linesOf(child: Child, status: number): Promise<readonly string[]> {
  const { code } = await child.ended
  if (code !== status) throw new Error(`the process ended with ${code}, not ${status}:\n${child.output()}`)
  return child.output().split('\n')
}

tell.title('A run that outlives its code')
tell.text('A membership sleeps for a year, and is renewed if a person agrees. Meanwhile its code changes.')

tell.act(1, 'Day 0: Ada joins')
const joined = await work(0, 'first', 'join', 'Ada')

tell.act(2, 'Day 60: a step gets a better name. The change is checked, and not deployed')
const renamed = await check('renamed', 6)

tell.act(3, 'Day 100: new members get a card. The change is checked and deployed, and Bob joins')
const second = await check('second', 0)
const joinedLater = await work(100, 'second', 'join', 'Bob')

tell.act(4, 'Day 300: the price rises')
const third = await check('third', 0)

tell.act(5, 'Day 366: Ada wakes up, in code that is younger than her membership')
const renewed = await work(366, 'third', 'renew', 'Ada')

tell.act(6, 'The old branch')
const last = await check('third', 0)

tell.act(7, 'And if the answer had been no? A fork shares the year, and differs from there')
const refused = await work(366, 'third', 'refuse', 'Ada')

tell.title('Verdict')
const checks: readonly (readonly [string, boolean])[] = [
  [
    'the renamed step was caught before it was deployed, with both sides',
    renamed.includes('step "welcome" in turn 0 at position 0 became step "send the welcome mail"'),
  ],
  ['both changes that were deployed match the run', second.includes('1 same') && third.includes('2 same')],
  ['Bob got a card', joinedLater.includes('did send a card to Bob')],
  [
    'Ada was welcomed once, got no card, and pays the new price',
    joined.includes('did write to Ada: welcome') &&
      renewed.filter((line) => line.startsWith('did')).join() === 'did charge Ada 110 EUR',
  ],
  [
    'the branch without a card is named once no run is on it',
    last.includes('Branch 1 of card in renew v1 can be removed') && !third.includes('can be removed'),
  ],
  [
    'the fork with the other answer ended, and did nothing of the past again',
    refused.some((line) => /^beside it continues +it has ended$/.test(line)) &&
      !refused.some((line) => line.startsWith('did')),
  ],
]
for (const [what, holds] of checks) (holds ? tell.passed : tell.failed)(what)
await rm(folder, { recursive: true, force: true })
process.exitCode = checks.every(([, holds]) => holds) ? 0 : 1
