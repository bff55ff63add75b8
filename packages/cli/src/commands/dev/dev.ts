import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Context } from '../../context.ts'
import { usageError } from '../../door/problem.ts'
import { type ExitStatus, exit } from '../../exit.ts'
import { safe } from '../../output/out.ts'
import { aborted, listen, type ServerFlags } from '../serve.ts'
import { ChildWorker } from './child-worker.ts'
import { openBrowser } from './open-browser.ts'
import { watchFiles } from './watch-files.ts'

export interface DevFlags extends ServerFlags {
  readonly open?: boolean
}

/**
 * Serves the API and works on the store, and replaces the worker when the code changes. The server stays, so that pages and streams
 * survive a change, and a module that does not load leaves them up.
 */
export async function dev(context: Context, flags: DevFlags): Promise<ExitStatus> {
  const { out, signal, surroundings } = context
  const { store, procedures, config } = await context.located()
  if (procedures.value.length === 0)
    throw usageError('No procedures were found. Create `procedures.ts`, or pass `--procedures <file>`.')
  if (typeof store.value !== 'string')
    throw usageError(
      '`pawl dev` needs a store by its path or address, since its worker is a process of its own.',
    )
  const address = store.by === 'default' ? join(surroundings.cwd, '.pawl', 'dev.db') : store.value
  if (store.by === 'default') mkdirSync(dirname(address), { recursive: true })
  const client = await context.client(address)
  const { server, url } = await listen(context, { client }, flags)
  const worker = new ChildWorker({
    args: [
      // The file that Node was started with: this program.
      process.argv[1] as string,
      ...['worker', '--check', '--store', address],
      ...(config === undefined ? [] : ['--config', config.by]),
      ...procedures.value.flatMap((file) => ['--procedures', file]),
    ],
    cwd: surroundings.cwd,
    env: surroundings.env,
    onLine: (line) => out.note(safe(line)),
    onExit: () => out.note(out.style('red', '  The worker has ended. It starts again when a file changes.')),
  })
  const watcher = watchFiles(surroundings.cwd, (file) => {
    out.note(`  ${safe(file)} changed: replacing the worker...`)
    void worker.replace()
  })
  out.print(out.json ? JSON.stringify({ url }) : url)
  if (flags.open === true)
    openBrowser(url, surroundings.env, () =>
      out.note('  No browser could be opened. Open the address above.'),
    )
  await watcher.ready
  await worker.replace()
  await aborted(signal)
  await watcher.close()
  await worker.stop()
  await server.stop()
  return exit.done
}
