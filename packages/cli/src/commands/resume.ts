import { confirmAnswer } from '../answers/confirm.ts'
import { type AnswerJson, hasAnswer, readJson } from '../answers/read-answer.ts'
import { refuseMissing } from '../config/store.ts'
import type { Context } from '../context.ts'
import { type AskJson, segmentOf } from '../door/door.ts'
import { usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'
import { type AnswerCommandFlags, findAsk, giveAnswer } from './answer.ts'
import { isLeftToWorkers } from './elsewhere.ts'
import { reportRun, watchRun } from './watch-run.ts'

export interface ResumeFlags extends AnswerCommandFlags {
  readonly resolution?: string
  readonly detach?: boolean
}

/** Answers the ask behind a checkpoint and works on its run until it ends or is suspended again. */
export async function resume(context: Context, checkpoint: string, flags: ResumeFlags): Promise<ExitStatus> {
  const { out, signal, surroundings } = context
  if (flags.resolution !== undefined && (hasAnswer(flags) || flags.comment !== undefined))
    throw usageError('Pass `--resolution` or the flags of `answer`, not both.')
  const isElsewhere = await isLeftToWorkers(context, flags)
  if (!isElsewhere) refuseMissing((await context.located()).store, surroundings.cwd)
  context.engineLog.hold()
  const door = isElsewhere ? await context.door() : (await context.working()).door
  const ask = await findAsk(context, door, checkpoint)
  context.engineLog.leaveOut(ask.run)
  if (flags.resolution === undefined) await giveAnswer(context, door, ask, flags)
  else {
    const resolution = readJson('--resolution', flags.resolution, surroundings.cwd)
    await confirmAnswer(context, ask, (resolution ?? {}) as AnswerJson, flags.yes === true)
    await door.post(
      '/resume',
      { checkpoint: ask.id, resolution },
      { query: { as: flags.as, digest: ask.digest } },
    )
  }
  if (!out.json) out.note(`  Resumed at checkpoint ${safe(checkpoint)}`)
  if (flags.detach === true) {
    if (out.json) out.print(JSON.stringify({ ask: await door.get<AskJson>(`/asks/${segmentOf(ask.id)}`) }))
    return exit.done
  }
  return reportRun(context, door, await watchRun(door, ask.run, { signal }))
}
