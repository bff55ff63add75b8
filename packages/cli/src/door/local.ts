import { userInfo } from 'node:os'
import type { Client, Logger } from '@pawl/core'
import { createServer, type ServerOptions } from '@pawl/server'
import { createDoor, type Door } from './door.ts'

/**
 * Opens a store. The requests go to a server in this process, without a network: commands say the same on a store and on a server.
 * @param procedures the code with which inputs are checked
 */
export function openLocal(
  where: string,
  client: Client,
  log: Logger,
  procedures: NonNullable<ServerOptions['procedures']> = [],
): Door {
  const server = createServer({
    ...{ client, procedures, logger: withoutDeeds(log) },
    auth: () => ({ actor: ownActor(), names: [], role: 'admin', actAs: true }),
  })
  return createDoor(where, 'http://localhost', server.fetch, { host: 'localhost' }, async () => {
    await server.stop()
    await client.stop()
  })
}

/** A command says itself what it has done. */
function withoutDeeds(log: Logger): Logger {
  return {
    ...{ debug: () => {}, info: () => {} },
    warn: (message, fields) => log.warn(message, fields),
    error: (message, fields) => log.error(message, fields),
  }
}

/** The user of the operating system. */
function ownActor(): `user:${string}` {
  try {
    return `user:${userInfo().username}`
  } catch {
    return 'user:local'
  }
}
