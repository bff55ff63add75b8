import { describe, expect, test } from 'vitest'
import { createScope } from '../../src/kernel/scope.ts'
import { Log } from './support/log.ts'
import { type Procedure, replay, Trial } from './support/trial.ts'

const lost = () => new Error('lost')

/** Delivers one event after the other, and looks whether the log gives the same at once. */
async function play(
  procedure: Procedure,
  ...steps: readonly ((log: Log, trial: Trial) => void)[]
): Promise<{ trial: Trial; log: Log }> {
  const log = new Log()
  const trial = new Trial(procedure)
  await trial.deliver(log.events)
  for (const step of steps) {
    const before = log.events.length
    step(log, trial)
    await trial.deliver(log.events.slice(before))
  }
  expect((await replay(procedure, log.events)).account).toEqual(trial.account)
  return { trial, log }
}
const settle = (name: string) => (log: Log, trial: Trial) => void log.settle(trial.find(name))

describe('closing a scope', () => {
  test('rejects the pending operations of a closed scope and of scopes inside it, one per turn', async () => {
    const procedure: Procedure = async (ctx) => {
      const { scopes } = ctx
      const outer = createScope(scopes.root)
      const inner = createScope(outer)
      const noted = (name: string, promise: Promise<string>) =>
        promise.then(ctx.note, async (error) => {
          ctx.note(`${name} ${error}`)
          await ctx.step(`after ${name}`)
        })
      const all = [
        noted('outer', ctx.within(outer).step('outer')),
        noted('inner', ctx.within(inner).step('inner')),
        noted('beside', ctx.step('beside')),
      ]
      await ctx.step('close')
      scopes.close([outer], lost)
      await Promise.all(all)
    }
    const { trial } = await play(procedure, settle('close'))
    expect(trial.notes).toEqual(['inner Error: lost', 'outer Error: lost'])
    expect(trial.issued.slice(4)).toEqual(['4 step after inner 2.0', '5 step after outer 3.0'])
  })

  test('stops closing at a shield until the shield is over', async () => {
    const procedure: Procedure = async (ctx) => {
      const { scopes } = ctx
      const arm = createScope(scopes.root)
      const shield = scopes.openShield(arm)
      const guarded = ctx.within(shield)
      guarded.step('forgotten').catch((error) => ctx.note(`forgotten ${error}`))
      const shielded = guarded.step('guarded').then((value) => {
        ctx.note(value)
        scopes.closeShield(shield)
      })
      await ctx.step('close')
      scopes.close([arm], lost)
      await shielded
      await guarded.step('too late').catch((error) => ctx.note(`too late ${error}`))
    }
    const { trial } = await play(procedure, settle('close'), settle('guarded'))
    expect(trial.notes).toEqual(['guarded!', 'forgotten Error: lost', 'too late Error: lost'])
    expect(trial.account.outcome).toBe('completed: undefined; left ')
  })

  test('closes several scopes in order of identity, in whatever order and however often they are named', async () => {
    const procedure =
      (hops: number): Procedure =>
      async (ctx) => {
        const { scopes } = ctx
        const arms = ['a', 'b', 'c'].map((name) => {
          const scope = createScope(scopes.root)
          ctx
            .within(scope)
            .step(name)
            .catch(() => ctx.note(name))
          return scope
        })
        await ctx.step('close')
        for (let i = 0; i < hops; i++) await null
        scopes.close(hops === 0 ? [...arms].reverse() : arms.slice(1), lost)
        scopes.close(arms, () => new Error('again'))
        await ctx.step('last')
      }
    const { trial, log } = await play(procedure(0), settle('close'), settle('last'))
    expect(trial.notes).toEqual(['a', 'b', 'c'])
    expect((await replay(procedure(3), log.events)).account).toEqual(trial.account)
  })

  test('closes operations issued before and after it in the same turn alike', async () => {
    const procedure =
      (hopsOfClosing: number, hopsOfArm: number): Procedure =>
      async (ctx) => {
        const arm = createScope(ctx.scopes.root)
        const shared = ctx.step('shared')
        shared
          .then(async () => {
            for (let i = 0; i < hopsOfArm; i++) await null
            return ctx.within(arm).step('more')
          })
          .catch((error) => ctx.note(`more ${error}`))
        await shared
        for (let i = 0; i < hopsOfClosing; i++) await null
        ctx.scopes.close([arm], lost)
        await ctx.step('x')
        await ctx.step('y')
      }
    const { trial, log } = await play(procedure(0, 5), settle('shared'), settle('x'), settle('y'))
    expect(trial.notes).toEqual(['more Error: lost'])
    const again = await replay(procedure(5, 0), log.events)
    expect(again.account.outcome).toBe(trial.account.outcome)
    expect(again.notes).toEqual(trial.notes)
  })

  test('refuses a thousand operations; later ones never settle, and the run continues', async () => {
    const procedure: Procedure = async (ctx) => {
      const arm = createScope(ctx.scopes.root)
      const stubborn = async () => {
        for (;;) await ctx.within(arm).step('again').catch(ctx.note)
      }
      void stubborn()
      await ctx.step('close')
      ctx.scopes.close([arm], lost)
      await ctx.step('last')
    }
    const { trial } = await play(procedure, settle('close'), settle('last'))
    expect(trial.notes).toHaveLength(1_000)
    expect(trial.account.outcome).toBe('completed: undefined; left ')
  })

  test("allows scopes to be closed in the run's own turns only", async () => {
    const log = new Log()
    const trial = new Trial(async (ctx) => {
      setTimeout(() => ctx.scopes.close([createScope(ctx.scopes.root)], lost), 1)
      await ctx.step('a')
    })
    await trial.deliver(log.events)
    await new Promise<void>((resolve) => setTimeout(resolve, 20))
    expect(trial.foreignMoves).toBe(1)
  })
})

describe('an operation closed without an event', () => {
  /** Two operations of one turn; the first loses a race that a third decides. */
  const procedure =
    (order: readonly string[]): Procedure =>
    async (ctx) => {
      const arm = createScope(ctx.scopes.root)
      const issued = new Map<string, Promise<string>>()
      for (const name of order) issued.set(name, (name === 'loser' ? ctx.within(arm) : ctx).step(name))
      issued.get('loser')?.catch((error) => ctx.note(String(error)))
      await issued.get('winner')
      ctx.scopes.close([arm], lost)
      ctx.note((await issued.get('other')) ?? '')
    }

  test.each([[['loser', 'other', 'winner']], [['other', 'loser', 'winner']], [['winner', 'other', 'loser']]])(
    'keeps the recorded results of other operations if an edit moved them: %j',
    async (order) => {
      const log = new Log()
      const trial = new Trial(procedure(['loser', 'winner', 'other']))
      await trial.deliver(log.events)
      const loser = trial.find('loser')
      await trial.deliver([log.settle(trial.find('winner'))])
      await trial.deliver([log.attempt(loser), log.settle(loser), log.settle(trial.find('other'))])
      expect(trial.account.outcome).toBe('completed: undefined; left ')
      const edited = await replay(procedure(order), log.events)
      expect(edited.account.outcome).toBe(trial.account.outcome)
      expect(edited.notes).toEqual(['Error: lost', 'other!'])
      const silent = log.events.filter(({ name }) => name !== 'loser')
      expect((await replay(procedure(order), silent)).account.outcome).toBe(trial.account.outcome)
    },
  )
})

describe('an open shield', () => {
  const procedure: Procedure = async (ctx) => {
    const scope = ctx.scopes.openShield(ctx.scopes.root)
    const release = async () => {
      ctx.note(await ctx.within(scope).step('release'))
      ctx.scopes.closeShield(scope)
    }
    void release()
    void ctx.step('left').then(() => ctx.step('never'))
    return await ctx.step('work')
  }

  test('delays the end of a procedure that has returned, and nothing else does', async () => {
    const { trial, log } = await play(procedure, settle('work'))
    expect(trial.decision).toMatchObject({ state: 'waiting', closed: [{ operation: { name: 'left' } }] })
    expect(trial.execution.graceFrom).toBe(log.events[1]?.at)
    const { trial: ended } = await play(procedure, settle('work'), settle('release'))
    expect(ended.notes).toEqual(['release!'])
    expect(ended.account.outcome).toBe('completed: "work!"; left ')
  })

  test('ends as the procedure did if the shield is broken by force', async () => {
    const { trial } = await play(procedure, settle('work'), (log) => void log.cancel('forced'))
    expect(trial.account.outcome).toBe('completed: "work!"; left release')
  })

  test('ignores a cancel after the return', async () => {
    const { trial } = await play(procedure, settle('work'), (log) => void log.cancel(), settle('release'))
    expect(trial.account.outcome).toBe('completed: "work!"; left ')
  })
})

describe('adopting an operation', () => {
  test('moves an operation into a scope that closes it', async () => {
    const procedure: Procedure = async (ctx) => {
      const { scopes } = ctx
      const arm = createScope(scopes.root)
      const operation = ctx.step('a')
      ctx.note(scopes.adopt(operation, scopes.root, arm))
      ctx.note(scopes.adopt(operation, scopes.root, arm))
      ctx.note(
        scopes.adopt(
          operation.then(() => {}),
          scopes.root,
          arm,
        ),
      )
      operation.catch((error) => ctx.note(String(error)))
      await ctx.step('close')
      scopes.close([arm], lost)
      await ctx.step('last')
    }
    const { trial } = await play(procedure, settle('close'))
    expect(trial.notes).toEqual(['adopted', 'elsewhere', 'none', 'Error: lost'])
  })
})
