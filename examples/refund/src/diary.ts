import { appendLine, readLines } from '../../shared/src/json-lines.ts'
import { fileOf } from './folder.ts'

/** One body of a step that really ran, whatever the engine says about it. */
export interface DiaryEntry {
  readonly ran: string
  /** The process that ran it. */
  readonly pid: number
}

const file = () => fileOf('diary.jsonl')

/** Every step of this example begins with it, so that a step that ran twice would be seen. */
export function noteRun(step: string): Promise<void> {
  return appendLine(file(), { ran: step, pid: process.pid } satisfies DiaryEntry)
}

export function readDiary(): Promise<readonly DiaryEntry[]> {
  return readLines<DiaryEntry>(file())
}
