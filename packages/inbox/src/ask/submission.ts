import type { Answer, Ask, Issue } from '@pawl/server/internal'
import { type Signal, signal } from '@preact/signals'
import { answerAsk, getAsk } from '../api/calls.ts'
import { ApiError, OfflineError } from '../api/request.ts'
import { en } from '../en.ts'
import { announce } from '../live/announce.ts'
import { noteEnded } from '../session.ts'

/** The state of sending one answer: in flight, refused, or accepted as the one that settled the ask. */
export class Submission {
  readonly isSending: Signal<boolean> = signal(false)
  readonly failure: Signal<string | null> = signal(null)
  readonly issues: Signal<readonly Issue[]> = signal([])
  /** Counts refusals, so that the focus moves once for each. */
  readonly refusals: Signal<number> = signal(0)
  readonly hasWon: Signal<boolean> = signal(false)
  readonly #ask: string

  constructor(ask: string) {
    this.#ask = ask
  }

  refuse(issues: readonly Issue[], failure: string = en.answerInvalid(issues.length)): void {
    this.issues.value = issues
    this.failure.value = failure
    this.refusals.value += 1
    announce(failure)
  }

  /** Whether it says itself what becomes of the ask. */
  get speaks(): boolean {
    return this.isSending.value || this.hasWon.value
  }

  /** Sends the answer to the ask as it was shown. Returns the ask as it is then, or null if it is unchanged. */
  async send(shown: Ask, answer: Answer): Promise<Ask | null> {
    if (this.isSending.value) return null
    this.isSending.value = true
    this.failure.value = null
    this.issues.value = []
    try {
      const { ask } = await answerAsk(shown, answer)
      this.hasWon.value = true
      announce(en.answeredNow)
      return { ...shown, ...ask }
    } catch (error) {
      return await this.#noteFailure(error)
    } finally {
      this.isSending.value = false
    }
  }

  async #noteFailure(error: unknown): Promise<Ask | null> {
    noteEnded(error)
    if (error instanceof OfflineError) this.refuse([], en.notSent)
    else if (error instanceof ApiError) {
      const { code, detail, details } = error.problem
      if (code === 'ask-closed') {
        announce(details?.winner ? en.someoneFaster(details.winner.by) : en.closedMeanwhile(true))
        return getAsk(this.#ask).catch(() => null)
      }
      if (code === 'ask-changed') {
        this.refuse([], en.askChanged)
        return getAsk(this.#ask).catch(() => null)
      }
      const issues = details?.issues ?? []
      this.refuse(issues, issues.length > 0 ? en.answerInvalid(issues.length) : detail)
    } else throw error
    return null
  }
}
