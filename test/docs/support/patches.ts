import { execFile } from 'node:child_process'
import { root } from './pages.ts'

/** What git says about applying the patch to the tree as it is; empty if it fits. */
export function tryPatch(patch: string): Promise<string> {
  return new Promise((resolve) => {
    const git = execFile('git', ['apply', '--check', '-'], { cwd: root }, (error, _, stderr) =>
      resolve(error === null ? '' : stderr || error.message),
    )
    git.stdin?.end(`${patch}\n`)
  })
}
