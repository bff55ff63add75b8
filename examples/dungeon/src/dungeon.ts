import { procedure } from '@pawl/core'
import { z } from 'zod'
import { enter, fightDragon, Hero, movesOf, play, rooms } from './rules.ts'
import { narrator, squire } from './voices.ts'

const Ending = z.object({
  hero: z.string(),
  room: z.number(),
  health: z.number(),
  ending: z.enum(['won', 'lost', 'went home']),
})

/** A game that may be killed at any move, and resumes at the same one. */
export const dungeon = procedure({ name: 'dungeon', output: Ending }, async (ctx) => {
  const hero = await ctx.human.input('Who enters the dungeon?', Hero)
  const roll = () => ctx.random()
  let state = enter(hero)
  let tale = 'The gate falls shut.'

  for (let room = 1; room <= rooms; room++) {
    const { text } = await ctx.agent(narrator, { name: hero.name, room })
    const move = await ctx.human.select(text, movesOf(state), {
      details: [{ title: 'So far', body: `${tale} Health ${state.health}, potions ${state.potions}.` }],
      history: 'none',
      timeout: '1d',
      onTimeout: { default: 'rest' },
    })
    const played = play(state, move, hero, roll)
    state = played.state
    tale = played.tale
    if (state.health <= 0) return { hero: hero.name, room, health: 0, ending: 'lost' }
  }

  const advice = await ctx.agent.decide('Continue to the dragon, or make camp first?', ['continue', 'camp'], {
    agent: squire,
    material: state,
    fallback: 'camp',
  })
  const health = state.health + (advice.choice === 'camp' ? 3 : 0)

  const door = await ctx.human.approve('Behind this door sleeps the dragon. Open it?', {
    details: [{ title: 'The squire', body: `${advice.choice}: ${advice.rationale}` }],
    params: { hero: hero.name, health },
    history: 'none',
    risk: { level: 'critical', reversible: false },
  })
  if (!door.approved) return { hero: hero.name, room: rooms, health, ending: 'went home' }

  const fight = fightDragon(health, roll)
  return { hero: hero.name, room: rooms + 1, health: fight.health, ending: fight.won ? 'won' : 'lost' }
})
