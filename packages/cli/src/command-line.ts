import { Argument, Command, Option } from 'commander'
import { placesIn } from './commands/completion/places.ts'
import { completionScripts, installHelp, type Shell, shells } from './commands/completion/scripts.ts'
import { readVersion } from './commands/version.ts'
import { addCommonFlags, type CommonFlag, uses } from './common-flags.ts'
import type { CommonFlags, Context, Surroundings } from './context.ts'
import { type ExitStatus, exit } from './exit.ts'
import { chosenFlags, collect, follow, limit, renamed, withAnswer, withChosen } from './flags.ts'
import { roles } from './roles.ts'

/** The code of a command is loaded when it is called: a process runs one of them, and help needs none. */
function lazy<A extends readonly unknown[]>(
  load: () => Promise<(...args: A) => Promise<ExitStatus> | ExitStatus>,
): (...args: A) => Promise<ExitStatus> {
  return async (...args) => (await load())(...args)
}

const answer = lazy(async () => (await import('./commands/answer.ts')).answer)
const backup = lazy(async () => (await import('./commands/backup.ts')).backup)
const cancel = lazy(async () => (await import('./commands/change.ts')).cancel)
const deleteRuns = lazy(async () => (await import('./commands/change.ts')).deleteRuns)
const retry = lazy(async () => (await import('./commands/change.ts')).retry)
const signal = lazy(async () => (await import('./commands/change.ts')).signal)
const check = lazy(async () => (await import('./commands/check.ts')).check)
const cleanUpCheckpoints = lazy(async () => (await import('./commands/checkpoints.ts')).cleanUpCheckpoints)
const listCheckpoints = lazy(async () => (await import('./commands/checkpoints.ts')).listCheckpoints)
const removeCheckpoints = lazy(async () => (await import('./commands/checkpoints.ts')).removeCheckpoints)
const showCheckpoint = lazy(async () => (await import('./commands/checkpoints.ts')).showCheckpoint)
const complete = lazy(async () => (await import('./commands/completion/complete.ts')).complete)
const dev = lazy(async () => (await import('./commands/dev/dev.ts')).dev)
const doctor = lazy(async () => (await import('./commands/doctor.ts')).doctor)
const explore = lazy(async () => (await import('./commands/explore.ts')).explore)
const fork = lazy(async () => (await import('./commands/fork.ts')).fork)
const inbox = lazy(async () => (await import('./commands/look.ts')).inbox)
const list = lazy(async () => (await import('./commands/look.ts')).list)
const log = lazy(async () => (await import('./commands/look.ts')).log)
const notices = lazy(async () => (await import('./commands/look.ts')).notices)
const show = lazy(async () => (await import('./commands/look.ts')).show)
const migrate = lazy(async () => (await import('./commands/migrate.ts')).migrate)
const resume = lazy(async () => (await import('./commands/resume.ts')).resume)
const run = lazy(async () => (await import('./commands/run.ts')).run)
const server = lazy(async () => (await import('./commands/serve.ts')).server)
const worker = lazy(async () => (await import('./commands/serve.ts')).worker)
const result = lazy(async () => (await import('./commands/talk.ts')).result)
const state = lazy(async () => (await import('./commands/talk.ts')).state)
const update = lazy(async () => (await import('./commands/talk.ts')).update)
const workers = lazy(async () => (await import('./commands/talk.ts')).workers)
const listTokens = lazy(async () => (await import('./commands/token.ts')).listTokens)
const makeToken = lazy(async () => (await import('./commands/token.ts')).makeToken)
const revokeToken = lazy(async () => (await import('./commands/token.ts')).revokeToken)
const exportRun = lazy(async () => (await import('./commands/transfer.ts')).exportRun)
const importRun = lazy(async () => (await import('./commands/transfer.ts')).importRun)
const version = lazy(async () => (await import('./commands/version.ts')).version)

type Act = (
  flags: CommonFlags,
  command: (context: Context) => Promise<ExitStatus> | ExitStatus,
) => Promise<void>

/** Adds a command with the common flags that it uses. Default: those of a command that works on a store or a server. */
type Add = (usage: string, description: string, used?: readonly CommonFlag[]) => Command

/** All commands. `act` runs the one that was called. */
export function createProgram(
  { stdout, stderr }: Pick<Surroundings, 'stdout' | 'stderr'>,
  act: Act,
): Command {
  const program = new Command('pawl')
    .description('Run durable procedures, answer their asks, and look at what they do.')
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
    .showHelpAfterError('Run with --help for an explanation.')
    .version(readVersion(), '--version', 'print the version')
    .helpCommand(false)
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  const add: Add = (usage, description, used = uses.door) =>
    addCommonFlags(program.command(usage).description(description), used).exitOverride()

  addRunning(add, act)
  addLooking(add, act)
  addChanging(add, act)
  addChecking(add, act)
  addServing(add, act)
  addToken(add, act)
  add(
    'doctor',
    'show where the store, the procedures and the server were found, and try them',
    uses.code,
  ).action((flags) => act(flags, doctor))
  add('backup <file>', 'copy the SQLite file of the store, also while it is in use', uses.store)
    .option('--force', 'replace a file that exists')
    .action((file, flags) => act(flags, (context) => backup(context, file, flags)))
  add('migrate', 'bring the tables of the store up to date', uses.store).action((flags) =>
    act(flags, migrate),
  )
  add('completion', `print a completion script for ${shells.join(', ')}`, [])
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', installHelp)
    .action((shell: Shell, flags) =>
      act(flags, ({ out }) => {
        out.print(completionScripts[shell])
        return exit.done
      }),
    )
  program
    .command('complete [words...]', { hidden: true })
    .exitOverride()
    .action((words: readonly string[]) =>
      act(placesIn(words), (context) => complete(context, program, words)),
    )
  add('version', 'print the versions of Pawl and Node', ['json']).action((flags) => act(flags, version))
  addHelp(program)
  return program
}

function addRunning(add: Add, act: Act): void {
  add('run <procedure>', 'start a run, and work on it until it ends or waits for a person', uses.code)
    .option('--input <json|@file>', 'the input of the procedure')
    .option('--id <id>', 'the id of the run; the same id starts it once')
    .option('--tag <tag>', 'a tag to find it by; repeat it for several', collect)
    .option('--cancel-after <duration>', 'cancel the run after this time, such as 1h')
    .addOption(
      new Option('--detach', 'start the run, and leave the work to a worker').conflicts([
        'follow',
        'timeout',
      ]),
    )
    .option('--timeout <duration>', 'how long to work on it, such as 30s')
    .option('--follow', 'print each entry of the log as it is recorded')
    .action((procedure, flags) => act(flags, (context) => run(context, procedure, flags)))
  withAnswer(add('resume <checkpoint>', 'answer the ask behind a checkpoint, and work on its run', uses.code))
    .option('--resolution <json|@file>', 'an answer, or {"decision": "approve"}')
    .option('--detach', 'answer, and leave the work to a worker')
    .action((checkpoint, flags) => act(flags, (context) => resume(context, checkpoint, flags)))
  withAnswer(add('answer [ask]', 'answer an ask; without an id, pick one')).action((ask, flags) =>
    act(flags, (context) => answer(context, ask, flags)),
  )
}

function addLooking(add: Add, act: Act): void {
  add('inbox', 'list open asks, most urgent first')
    .option('--mine', 'addressed to you or to your groups')
    .option('--to <name>', 'addressed to this name, such as group:support')
    .option('--run <run>', 'of this run')
    .option('--overdue', 'only overdue asks')
    .addOption(follow('print each ask as it is opened or closed, until Ctrl-C'))
    .addOption(limit())
    .action((flags) => act(flags, (context) => inbox(context, flags)))
  add('ls', 'list runs, newest first')
    .option('--status <status>', 'one or several, separated by commas')
    .option('--procedure <name>', 'of this procedure')
    .option('--tag <tag>', 'with this tag')
    .addOption(
      new Option('--rollback <state>', 'failed: with an undo that failed or did not run').choices(['failed']),
    )
    .addOption(limit())
    .action(({ status, procedure, tag, rollback, limit, ...flags }) =>
      act(flags, (context) => list(context, { status, procedure, tag, rollback, limit })),
    )
  add('notices', 'list what people are told, newest first')
    .option('--mine', 'addressed to you, to your groups, or to everyone')
    .option('--unread', 'only unread notices')
    .option('--run <run>', 'of this run')
    .option('--read', 'mark the listed notices as read by you')
    .addOption(limit())
    .action((flags) => act(flags, (context) => notices(context, flags)))
  add('show <run>', 'show one run: status, values, what it waits for, why it failed; or one ask, by its id')
    .option('--follow', 'print it again at each change, until it ends')
    .addOption(new Option('--tree', 'with the runs that it has created, and theirs').conflicts('follow'))
    .action((id, flags) => act(flags, (context) => show(context, id, flags)))
  add('result <run>', 'print the output of a run, or how it ended')
    .option('--timeout <duration>', 'how long to wait for its end, such as 30s; default: not at all')
    .action((id, flags) => act(flags, (context) => result(context, id, flags)))
  add('state <run> [name]', 'show the values that a run exposes').action((id, name, flags) =>
    act(flags, (context) => state(context, id, name)),
  )
  add('workers', 'list the live workers, oldest first').action((flags) => act(flags, workers))
  add('log <run>', 'show the execution log of a run, newest entries first')
    .option('--failed', 'only failed entries')
    .addOption(follow('oldest entries first, then each as it is recorded, until the run ends'))
    .addOption(limit())
    .action((id, flags) => act(flags, (context) => log(context, id, flags)))
}

function addChanging(add: Add, act: Act): void {
  add('signal <run> <name>', 'send a signal to a run')
    .option('--payload <json|@file>', 'the payload of the signal')
    .option('--key <key>', 'a key; the same key is delivered once')
    .action((id, name, flags) => act(flags, (context) => signal(context, id, name, flags)))
  add('update <run> <name>', 'send an update to a run, and print its reply')
    .option('--input <json|@file>', 'the input of the update')
    .option('--key <key>', 'a key; the same key is handled once, and gets the same reply')
    .option('--timeout <duration>', 'how long to wait for the reply, up to 60s; default: 30s')
    .action((id, name, flags) => act(flags, (context) => update(context, id, name, flags)))
  withChosen(add('cancel [run...]', 'cancel runs, by id or all that a filter finds'))
    .option('--reason <text>', 'why, for people and in the error of the run')
    .action((ids, flags) => act(flags, (context) => cancel(context, ids, flags)))
  withChosen(add('retry [run...]', 'retry runs that are failed, stuck or quarantined for crashes'))
    .addOption(
      new Option('--preview', 'only show what of one run would be done again').conflicts(chosenFlags),
    )
    .action((ids, flags) => act(flags, (context) => retry(context, ids, flags)))
  add('fork <run>', 'start a run that shares the past of another one, up to a position or a checkpoint')
    .option('--at <position>', 'continue just before the result at this position of the log')
    .option('--checkpoint <id>', 'continue from this checkpoint or ask of the run')
    .option('--edit <position=json>', 'another result at a position that is kept; repeat it', collect)
    .option('--id <id>', 'the id of the new run; default: generated')
    .option('--preview', 'only show what would be done again')
    .action((id, flags) => act(flags, (context) => fork(context, id, flags)))
  withChosen(add('delete [run...]', 'delete runs that have ended or are quarantined, for ever')).action(
    (ids, flags) => act(flags, (context) => deleteRuns(context, ids, flags)),
  )
  add('export <run> <file>', 'write a run to a file: its log, mail, asks, checkpoints and exposed values')
    .option('--force', 'replace a file that exists')
    .addOption(renamed('--file <file>', 'The file is an argument: `pawl export <run> <file>`.'))
    .action((id, file, flags) => act(flags, (context) => exportRun(context, id, file, flags)))
  add('import <file>', 'store a run that was exported; a live one continues')
    .option('--id <id>', 'another id, for a run that has completed or was cancelled')
    .action((file, flags) => act(flags, (context) => importRun(context, file, flags)))
}

function addChecking(add: Add, act: Act): void {
  add(
    'check [run]',
    'replay stored runs with the code that is here, and name the runs that would get stuck',
    uses.storeAndCode,
  )
    .option('--procedure <name>', 'only runs of this procedure')
    .option('--status <status>', 'one or several, separated by commas; default: running,waiting,stuck')
    .option('--tag <tag>', 'only runs with this tag')
    .option('--limit <n>', 'at most this many, the newest first; default: all')
    .option(
      '--export <file>',
      'an exported run, instead of those of the store; repeat it for several',
      collect,
    )
    .action((id, flags) => act(flags, (context) => check(context, id, flags)))
  addCheckpoints(add, act)
  add('explore <procedure>', 'try every outcome of a procedure, and find acts without consent', [
    'procedures',
    'config',
    'json',
  ])
    .option('--input <json|@file>', 'the input of the procedure')
    .option('--with <file>', 'a module whose default export has doubles, rules and other options')
    .option('--never <step>', 'a step that needs a yes of a person; repeat it for several', collect)
    .option('--ignore <rule>', 'unread-answer or act-beside-question, which hold by default', collect)
    .option('--cancel', 'also cancel the run at every operation')
    .option('--max-paths <n>', 'default: 10000')
    .action((procedure, flags) => act(flags, (context) => explore(context, procedure, flags)))
}

function addServing(add: Add, act: Act): void {
  add(
    'dev',
    'serve the API and work on the store; replace the worker when the code changes',
    uses.storeAndCode,
  )
    .option('--port <port>', 'default: 4747')
    .option('--host <address>', 'default: 127.0.0.1; any other needs --tokens')
    .option('--hosts <name>', 'an accepted Host name; repeat it for several', collect)
    .option('--tokens <file>', 'the file of tokens, made by `pawl token`')
    .option('--open', 'open the inbox in the browser; BROWSER names the command')
    .action((flags) => act(flags, (context) => dev(context, flags)))
  add('worker', 'work on the store until stopped', ['store', 'procedures', 'config'])
    .option('--concurrency <n>', 'steps at work at once; default: 100')
    .addOption(new Option('--check', 'name the runs that no longer match').hideHelp())
    .action((flags) => act(flags, (context) => worker(context, flags)))
  add('server', 'serve the HTTP API of the store until stopped', uses.store)
    .option('--port <port>', 'default: 4747')
    .option('--host <address>', 'default: 127.0.0.1; any other needs --tokens')
    .option('--hosts <name>', 'an accepted Host name; repeat it for several', collect)
    .option('--tokens <file>', 'the file of tokens, made by `pawl token`')
    .action((flags) => act(flags, (context) => server(context, flags)))
}

function addHelp(program: Command): void {
  program
    .command('help [command]')
    .description('explain a command')
    .addOption(new Option('--json').hideHelp())
    .action((name: string | undefined) => {
      const command = name === undefined ? program : program.commands.find((one) => one.name() === name)
      if (command === undefined) program.error(`error: unknown command '${name}'`)
      command.outputHelp()
    })
}

function addCheckpoints(add: Add, act: Act): void {
  const checkpoints = add('checkpoints', 'list, show and delete the checkpoints of runs')
  checkpoints
    .command('ls [run]')
    .description('list the checkpoints of a run, or of all runs, newest first')
    .action((run) => act(checkpoints.opts(), (context) => listCheckpoints(context, run)))
  checkpoints
    .command('show <checkpoint>')
    .description('show a checkpoint, or the latest one of a run, with its value')
    .action((id) => act(checkpoints.opts(), (context) => showCheckpoint(context, id)))
  checkpoints
    .command('rm <checkpoint>')
    .description('delete a checkpoint, or all of a run')
    .action((id) => act(checkpoints.opts(), (context) => removeCheckpoints(context, id)))
  checkpoints
    .command('cleanup')
    .description('delete the checkpoints of all runs that match all options')
    .option('--older-than <duration>', 'at least this old, such as 24h')
    .option('--keep <n>', 'how many each run keeps, the newest')
    .option('--only-finished', 'only those of runs that have ended')
    .action((flags) => act(checkpoints.opts(), (context) => cleanUpCheckpoints(context, flags)))
}

function addToken(add: Add, act: Act): void {
  const file = (command: Command): Command =>
    command
      .addOption(new Option('--tokens <file>', 'the file of tokens').default('tokens.json'))
      .addOption(renamed('--file <file>', 'The file of tokens is `--tokens <file>`, as of `pawl server`.'))
  const token = add('token', 'make, list and revoke the tokens of a server', ['json'])
  file(token.command('make <person>'))
    .description('make a token for user:<name>, and print it once')
    .option('--role <role>', `${roles.slice(0, -1).join(', ')} or ${roles.at(-1)}`, 'answer')
    .option('--name <name>', 'a group, role or queue whose asks it may answer; repeat it', collect)
    .option('--act-as', 'may name another person with --as')
    .option('--note <text>', 'what it is for')
    .action((actor, flags) => act(token.opts(), (context) => makeToken(context, actor, flags)))
  file(token.command('ls'))
    .description('list tokens')
    .action((flags) => act(token.opts(), (context) => listTokens(context, flags)))
  file(token.command('revoke <prefix>'))
    .description('remove the token whose hash begins like this')
    .action((prefix, flags) => act(token.opts(), (context) => revokeToken(context, prefix, flags)))
}
