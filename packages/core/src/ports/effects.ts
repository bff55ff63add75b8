type Body = (...args: never[]) => unknown

/**
 * Provides the bodies with external effects: those of steps and agents.
 * Called with the name and the body; tests and simulations return a double.
 */
export interface Effects {
  step<B extends Body>(name: string, body: B): B
  agent<B extends Body>(name: string, body: B): B
}

/** Runs every body as it is. */
export const ownEffects: Effects = { step: (_, body) => body, agent: (_, body) => body }
