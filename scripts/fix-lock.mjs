// Completes package-lock.json with the optional dependencies made for other platforms.
//
// A registry that does not carry every platform's build makes `npm install` leave the missing ones out of the
// lockfile without a word, and then `npm ci` refuses that lockfile ("Missing: ... from lock file"). An entry
// with a version and a platform is enough for npm to accept it, and for a machine of that platform to fetch it.
//
// usage, after every `npm install`:  node scripts/fix-lock.mjs
// in a check:                        node scripts/fix-lock.mjs --check
//
// Plain JavaScript, because it has to run before anything is installed.
import { readFileSync, writeFileSync } from 'node:fs'

const lockFile = new URL('../package-lock.json', import.meta.url)

const osOfWord = {
  aix: 'aix',
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  linuxmusl: 'linux',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  win32: 'win32',
  windows: 'win32',
}
const cpus = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64']

/** Reads the platform out of a name such as `@oxlint/linux-arm64-musl`; undefined when it names none. */
function readPlatform(name) {
  const words = name.split(/[/_.-]/)
  const os = words.map((word) => osOfWord[word]).find(Boolean)
  if (os === undefined) return undefined
  const cpu =
    cpus.find((known) => words.includes(known)) ??
    (words.some((word) => /^armv?\d/.test(word)) ? 'arm' : undefined)
  const libc = os === 'linux' ? (words.some((word) => word.includes('musl')) ? 'musl' : 'glibc') : undefined
  return { os, cpu, libc }
}

/** The folder above `folder` in which Node would look for a package next; undefined above the root. */
function parentOf(folder) {
  if (folder === '') return undefined
  const nested = folder.lastIndexOf('/node_modules/')
  if (nested >= 0) return folder.slice(0, nested)
  return folder.startsWith('node_modules/') ? '' : folder.slice(0, Math.max(folder.lastIndexOf('/'), 0))
}

/** The lockfile's entry that `name` means to the package in `folder`, found as Node would find it. */
function resolve(packages, folder, name) {
  for (let at = folder; at !== undefined; at = parentOf(at)) {
    const entry = packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]
    if (entry) return entry
  }
  return undefined
}

/** Adds what is missing to `packages` and returns the names added and the names that cannot be explained. */
function complete(packages) {
  const added = []
  const unexplained = []
  for (const [folder, wanting] of Object.entries({ ...packages })) {
    for (const [name, range] of Object.entries(wanting.optionalDependencies ?? {})) {
      const found = resolve(packages, folder, name)
      const isPinned = /^\d/.test(range)
      if (found && (!isPinned || found.version === range)) continue
      const platform = readPlatform(name)
      if (!platform) {
        unexplained.push(`${name} (wanted by ${folder || 'the root'})`)
        continue
      }
      // Beside the others at the root; below its parent only when another version has that place already.
      const place = found ? `${folder}/node_modules/${name}` : `node_modules/${name}`
      packages[place] = {
        version: range.replace(/^[\^~]/, ''),
        ...(platform.cpu && { cpu: [platform.cpu] }),
        ...(platform.libc && { libc: [platform.libc] }),
        optional: true,
        os: [platform.os],
      }
      added.push(name)
    }
  }
  return { added, unexplained }
}

const lock = JSON.parse(readFileSync(lockFile, 'utf8'))
const { added, unexplained } = complete(lock.packages)

if (unexplained.length > 0) {
  console.error(`package-lock.json lacks optional packages of no known platform: ${unexplained.join(', ')}`)
  process.exitCode = 1
}
if (added.length > 0 && process.argv.includes('--check')) {
  console.error(
    `package-lock.json lacks ${added.length} entries for other platforms; run: node scripts/fix-lock.mjs`,
  )
  process.exitCode = 1
} else if (added.length > 0) {
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  lock.packages = Object.fromEntries(sorted)
  writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`)
}
console.log(
  `package-lock.json: ${added.length} entries ${process.argv.includes('--check') ? 'missing' : 'added'}`,
)
