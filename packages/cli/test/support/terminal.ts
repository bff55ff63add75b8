import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Workspace } from './workspace.ts'

/** Why there are no tests in a terminal here, or undefined if there are. */
export const noTerminal: string | undefined =
  spawnSync('python3', ['-c', 'import pty']).status === 0
    ? undefined
    : 'python3 is not installed, which opens the pseudo-terminal'

/** Runs its arguments in a pseudo-terminal of 40 lines, between its own stdin and stdout, and exits as they do. */
const relay = `
import fcntl, os, pty, select, struct, sys, termios
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 200, 0, 0))
pid = os.fork()
if pid == 0:
    os.close(master)
    os.login_tty(slave) if hasattr(os, 'login_tty') else None
    if not hasattr(os, 'login_tty'):
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2): os.dup2(slave, fd)
    os.execvp(sys.argv[1], sys.argv[1:])
os.close(slave)
sources = [0, master]
while True:
    for fd in select.select(sources, [], [])[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b''
        if fd == 0 and data: os.write(master, data)
        elif fd == 0: sources.remove(0)
        elif data: os.write(1, data)
        else:
            status = os.waitpid(pid, 0)[1]
            sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
`

const keys = {
  enter: '\r',
  down: '\x1b[B',
  up: '\x1b[A',
  space: ' ',
  'ctrl-c': '\x03',
  clear: '\x15',
} as const

/** A command at work in a pseudo-terminal. */
export interface InTerminal extends AsyncDisposable {
  /** Waits until the screen shows a text, after the one that was waited for before. */
  see(text: string): Promise<void>
  press(...names: readonly (keyof typeof keys)[]): void
  type(text: string): void
  /** All that was printed, without the codes for colours and the cursor. */
  readonly screen: string
  /** Waits for the end of the command. */
  end(): Promise<number>
}

export function inTerminal(
  workspace: Workspace,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): InTerminal {
  return programInTerminal(workspace, [process.execPath, ...workspace.program, ...args], more)
}

/** Runs any program in a pseudo-terminal, in the folder of a workspace. */
export function programInTerminal(
  { folder, env }: Workspace,
  command: readonly string[],
  more: Readonly<Record<string, string>> = {},
): InTerminal {
  const child = spawn('python3', ['-c', relay, ...command], {
    cwd: folder,
    env: { ...env, TERM: 'xterm-256color', ...more },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close') as Promise<[number]>
  let hasEnded = false
  let screen = ''
  let seen = 0
  let wake = (): void => {}
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk: string) => {
    screen += chunk
    wake()
  })
  void ended.then(() => {
    hasEnded = true
    wake()
  })
  const plain = (): string => withoutCodes(screen)
  return {
    async see(text) {
      for (;;) {
        const at = plain().indexOf(text, seen)
        if (at >= 0) {
          seen = at + text.length
          return
        }
        if (hasEnded) throw new Error(`The command ended without showing "${text}":\n${plain()}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    press: (...names) => void child.stdin.write(names.map((name) => keys[name]).join('')),
    type: (text) => void child.stdin.write(text),
    get screen() {
      return plain()
    },
    end: async () => (await ended)[0],
    async [Symbol.asyncDispose]() {
      if (!hasEnded) child.kill('SIGKILL')
      await ended
    },
  }
}

const escapeCode = String.fromCharCode(27)
const codes = new RegExp(`${escapeCode}\\[[0-9;?]*[A-Za-z]`, 'g')

function withoutCodes(text: string): string {
  return text.replace(codes, '').replaceAll('\r', '')
}
