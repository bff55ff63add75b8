import { style } from './style.ts'

/** A demo's way of speaking: a heading for each act, and below it a word in a column of its own. */
export const tell = {
  title: (text: string): void => console.log(`\n${style.bold(text)}\n`),
  act: (number: number, text: string): void => console.log(`\n${style.bold(`${number}  ${text}`)}`),
  text: (...lines: readonly string[]): void => console.log(lines.join('\n')),
  line: (word: string, ...lines: readonly string[]): void => {
    const [first = '', ...rest] = lines
    console.log(`   ${style.dim(word.padEnd(9))} ${first}`)
    for (const line of rest) console.log(`             ${line}`)
  },
  died: (text: string): void => console.log(`   ${style.red('SIGKILL'.padEnd(9))} ${text}`),
  passed: (text: string): void => console.log(`   ${style.green('ok')}      ${text}`),
  failed: (text: string): void => console.log(`   ${style.red('FAILED')}  ${text}`),
}

/** @example count(18, 'step') // '18 steps' */
export function count(number: number, noun: string, plural: string = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

export function euro(amounts: readonly number[]): string {
  const cents = amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0)
  return `${(cents / 100).toFixed(2)} EUR`
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
