import { setTimeout as sleep } from 'node:timers/promises'

/** What runs of a peer do in this process. Its hooks are called by the bodies of runs and of steps. */
export class Watch {
  /** How many steps were really done. */
  executed = 0
  /** How long each of them takes. */
  stepMs = 0
  /** Called with the number of each step as it begins. */
  beginStep = (_i) => {}
  #ends = new Map()
  #waits = new Map()

  hooks = {
    onStep: (i) => {
      this.beginStep(i)
      this.executed++
      return this.stepMs === 0 ? i : sleep(this.stepMs, i)
    },
    onWait: (id, token) => of(this.#waits, id).resolve(token),
    onEnd: (id, sum) => {
      of(this.#ends, id).resolve({ sum, at: performance.now() })
      return sum
    },
  }

  /** When its body returned, and what. */
  end(id) {
    return of(this.#ends, id).promise
  }

  /** When its body waits for a signal: what a sender has to know beside its id. */
  wait(id) {
    return of(this.#waits, id).promise
  }
}

function of(all, id) {
  if (!all.has(id)) {
    const one = {}
    one.promise = new Promise((resolve) => {
      one.resolve = resolve
    })
    all.set(id, one)
  }
  return all.get(id)
}
