import { IssueList, type Issues, oneIssue } from '../../base/issues.ts'
import { canExecute, chooseVersion } from '../../ports/abilities.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { ProcedureInput } from '../../runs/procedure-inputs.ts'
import { checkJsonSchema } from '../../schemas/json-schema/check.ts'
import { readTelling, type Telling } from './telling.ts'

/** How long it is believed that a worker takes an input: a deploy may have replaced it. */
const maxAgeMs = 10_000

/**
 * What the live workers declare of the inputs of their procedures, for starts without code. An input that no worker took when it was
 * last read is judged by what they declare now.
 */
export class DeclaredInputs {
  readonly #clock: Pick<Clock, 'elapsed'>
  #workers: readonly Telling[] = []
  #readAt = 0
  #reading: Promise<void> | null = null

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock
  }

  /** Returns why every live worker that has the procedure refuses an input; null if one may take it, or if there is none. */
  async refusalOf(store: StorePort, procedure: string, input: unknown): Promise<Issues | null> {
    const isRecent = this.#clock.elapsed() - this.#readAt < maxAgeMs
    if (isRecent && judge(this.#workers, procedure, input) === fine) return null
    await this.#read(store)
    const judged = judge(this.#workers, procedure, input)
    return judged === fine ? null : judged
  }

  /** Many starts at once share a read. */
  #read(store: StorePort): Promise<void> {
    this.#reading ??= this.#readAll(store).finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #readAll(store: StorePort): Promise<void> {
    const readAt = this.#clock.elapsed()
    this.#workers = await readTelling(store)
    this.#readAt = readAt
  }
}

const fine: Issues = { issues: [] }

/** Returns `fine` if one of the workers may take the input, and null if none has the procedure. */
function judge(workers: readonly Telling[], procedure: string, input: unknown): Issues | null {
  let judged: Issues | null = null
  // Workers of the same code declare the same: an input is checked once for all of them.
  const known = new Map<string, Issues>()
  for (const { procedures, inputs } of workers) {
    if (procedures !== null && !canExecute(procedures, procedure, null)) continue
    const version = chooseVersion(procedures ?? [], procedure, null)
    const declared = inputs.find((one) => one.name === procedure && one.version === version)
    // A worker that does not tell checks the input itself.
    const key = JSON.stringify(declared)
    judged = declared === undefined ? fine : (known.get(key) ?? issuesIn(declared, input))
    known.set(key, judged)
    if (judged.issues.length === 0) return fine
  }
  return judged
}

/** The JSON Schema accepts all that the schema of the procedure accepts; the worker checks the rest. */
function issuesIn({ name, takesInput, needsInput, schema }: ProcedureInput, input: unknown): Issues {
  if (input === undefined) return needsInput === true ? oneIssue('', 'it is missing') : fine
  if (!takesInput) return oneIssue('', `procedure '${name}' takes no input`)
  if (schema === undefined) return fine
  const list = new IssueList()
  checkJsonSchema(schema, input, '', list)
  return list.found
}
