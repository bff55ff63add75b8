import type { Ran, Workspace } from './workspace.ts'

/** Runs commands and writes down what they print and how they exit, without what differs from one time to the next. */
export class Transcript {
  readonly #workspace: Workspace
  readonly #lines: string[] = []

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  get text(): string {
    return `${this.#lines.join('\n')}\n`
  }

  async run(...args: readonly string[]): Promise<Ran> {
    const ran = await this.#workspace.pawl(...args)
    const note = (sign: string, text: string): void => {
      for (const line of text.split('\n').slice(0, -1))
        if (!isOfTheEngine(line)) this.#lines.push(`${sign}${this.#steady(line)}`)
    }
    this.#lines.push(
      '',
      `$ pawl ${args
        .map(quote)
        .map((arg) => this.#steady(arg))
        .join(' ')}`,
    )
    note('', ran.stdout)
    note('stderr: ', ran.stderr)
    this.#lines.push(`exit ${ran.status}`)
    return ran
  }

  #steady(text: string): string {
    return text
      .replaceAll(this.#workspace.folder, '<folder>')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replace(/\b\d+(?:\.\d+)? m?s\b/g, '<duration>')
      .replace(/"duration_ms":\d+/g, '"duration_ms":<n>')
      .replace(/\b(?:[a-z]:\d\/\d+|[0-9a-f]{16})\b/g, '<ask>')
      .replace(/\b[0-9a-f]{32}\b/g, '<digest>')
      .replace(/user:(?!ana|bob)[\w-]+/g, 'user:<me>')
      .replace(/"stack":"(?:[^"\\]|\\.)*"/g, '"stack":"<stack>"')
  }
}

/**
 * Lines that a worker writes, which runs in the command itself or beside the server; what the command loads for it; and the place in the
 * code of a failure, which only the command with the worker knows.
 */
function isOfTheEngine(line: string): boolean {
  return ['[pawl]', '  Loading ', '  at '].some((start) => line.startsWith(start))
}

function quote(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word}'`
}
