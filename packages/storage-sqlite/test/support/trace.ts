import { execFileSync, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a file was asked to do, or, as `acknowledged`, what a caller was told. */
export type TraceRecord =
  | { readonly kind: 'write'; readonly file: string; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'sync'; readonly file: string }
  | { readonly kind: 'acknowledged'; readonly text: string }

const compiler = process.env['CC'] ?? 'cc'

/** Whether there is what `compileTraceVfs` needs. */
export const canCompile: boolean = spawnSync(compiler, ['--version']).status === 0

/** Compiles the VFS that writes a trace. It takes a C compiler, as better-sqlite3 does where it has no binary. */
export function compileTraceVfs(directory: string): string {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3/package.json')
  const output = join(directory, 'tracevfs.so')
  const source = fileURLToPath(new URL('./trace-vfs.c', import.meta.url))
  const headers = join(dirname(driver), 'deps', 'sqlite3')
  execFileSync(compiler, ['-shared', '-fPIC', '-O1', '-I', headers, source, '-o', output])
  return output
}

export function parseTrace(bytes: Buffer): TraceRecord[] {
  const names = new Map<number, string>()
  const records: TraceRecord[] = []
  for (let at = 0; at < bytes.length; ) {
    const [kind, number, size] = [bytes.readUInt8(at), bytes.readUInt8(at + 1), bytes.readUInt32LE(at + 4)]
    const offset = Number(bytes.readBigInt64LE(at + 8))
    const data = bytes.subarray(at + 16, at + 16 + size)
    at += 16 + size
    const file = names.get(number) ?? ''
    if (kind === 1) names.set(number, data.toString())
    else if (kind === 2) records.push({ kind: 'write', file, offset, data })
    else if (kind === 3) records.push({ kind: 'truncate', file, size: offset })
    else if (kind === 4) records.push({ kind: 'sync', file })
    else if (kind === 5) records.push({ kind: 'acknowledged', text: data.toString() })
    else throw new Error(`a record of kind ${kind}`)
  }
  return records
}
