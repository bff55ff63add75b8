// Finds words that Pawl's English does not use, in sources, tests and docs.  usage: node --import tsx scripts/check-words.ts [path ...]
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { bannedWords } from './words/banned.ts'

const searched = ['packages', 'examples', 'docs', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']
const isSearched = /\.(?:tsx?|md|mjs)$/

const paths = process.argv.slice(2)
const files = execFileSync('git', ['ls-files', '--', ...(paths.length === 0 ? searched : paths)], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => isSearched.test(file))

let found = 0
for (const file of files) {
  const lines = readFileSync(file, 'utf8').split('\n')
  for (const [index, line] of lines.entries()) {
    for (const { pattern, instead } of bannedWords) {
      for (const match of line.matchAll(pattern)) {
        found += 1
        console.error(`${file}:${index + 1}: “${match[0]}”: write ${instead}`)
      }
    }
  }
}
if (found > 0) {
  console.error(`${found} banned ${found === 1 ? 'phrase' : 'phrases'} (scripts/words/banned.ts)`)
  process.exitCode = 1
}
