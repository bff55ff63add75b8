type Body = (...args: never[]) => unknown

/**
 * What touches the world: the bodies of steps and agents. Asked for each of them, by name, what to run in its
 * place; a test or a simulation answers with a double.
 */
export interface Effects {
  step<B extends Body>(name: string, body: B): B
  agent<B extends Body>(name: string, body: B): B
}

/** Every body is its own. */
export const ownEffects: Effects = { step: (_, body) => body, agent: (_, body) => body }
