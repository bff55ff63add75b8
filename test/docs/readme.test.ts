import { expect, test } from 'vitest'
import { readPage } from './support/pages.ts'

const { text, blocks } = readPage('README.md')

test('the README has at most 700 words', () => {
  expect(text.split(/\s+/).filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(700)
})

test('the quick start of the README has at most 20 lines to paste', () => {
  const program = blocks.find(({ text }) => text.startsWith('// hello.ts'))?.text ?? ''
  const commands = blocks.filter(({ language, text }) => language === 'sh' && text.includes('hello.ts'))
  const lines = [program, ...commands.map(({ text }) => text)].flatMap((block) => block.split('\n'))
  expect(commands).toHaveLength(1)
  expect(lines.length).toBeLessThanOrEqual(20)
})

test.each(['npm ci && npm run demo', 'npm ci && npm test'])('the README names %s', (command) => {
  expect(blocks.some(({ language, text }) => language === 'sh' && text.includes(command))).toBe(true)
})
