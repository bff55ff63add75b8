import {
  type Client,
  type LinkOptions,
  type Logger,
  PawlError,
  type Procedure,
  type ProcedureRef,
  ref,
} from '@pawl/core'
import { consoleLogger, findNearest } from '@pawl/core/internal'
import { local } from './auth/local.ts'
import type { RightsOptions } from './auth/rights.ts'
import type { HookAccess } from './hooks/registry.ts'
import { hookAccessOf } from './hooks/webhooks.ts'
import type { Auth, Identity, ServerOptions } from './types.ts'

/** The options of a server, with their defaults. */
export interface Settings extends RightsOptions {
  clientOf(identity: Identity): Client
  /** The newest version of a procedure whose code was given, else a reference to it. */
  procedureOf(name: string): ProcedureRef<unknown, unknown>
  /** Asks the store something small. */
  probe(): Promise<unknown>
  readonly auth: Auth
  readonly hosts: readonly string[]
  readonly origins: readonly string[]
  /** Without a slash at its end, except for '/'. */
  readonly basePath: string
  readonly logger: Logger
  readonly links: LinkOptions | undefined
  readonly hooks: HookAccess | undefined
}

const known: readonly (keyof ServerOptions)[] = [
  'client',
  'procedures',
  'auth',
  'hosts',
  'basePath',
  'origins',
  'selfApproval',
  'showRuns',
  'may',
  'links',
  'hooks',
  'logger',
]

export function readOptions(options: ServerOptions): Settings {
  for (const key of Object.keys(options)) if (!(known as readonly string[]).includes(key)) refuseUnknown(key)
  const {
    client,
    procedures = [],
    auth = local(),
    hosts = [],
    basePath = '/',
    origins = [],
    selfApproval,
    showRuns,
    may,
    links,
    hooks,
    logger = consoleLogger,
  } = options
  if (typeof client !== 'function' && typeof client?.list !== 'function')
    refuse('client', typeof client, 'It must be a client, an engine, or a function that returns one.')
  if (!Array.isArray(procedures)) refuse('procedures', typeof procedures, 'It must list procedures.')
  if (typeof auth !== 'function') refuse('auth', typeof auth, 'It must be a function, such as tokens(file).')
  if (!/^\/([\w.~-]+(\/[\w.~-]+)*)?$/.test(basePath))
    refuse('basePath', JSON.stringify(basePath), 'It must begin with a slash and not end with one.')
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      refuse('origins', JSON.stringify(origin), 'Each must be scheme, host and port alone.')
  for (const host of hosts)
    if (!/^[a-z0-9.-]+$/i.test(host))
      refuse('hosts', JSON.stringify(host), 'Each must be a name without a port.')
  if (hooks !== undefined && typeof client === 'function')
    refuse('hooks', 'with a function as `client`', 'Webhooks follow one store. Serve each store by itself.')
  if (links !== undefined) checkLinks(links, client)
  const linkHosts = links === undefined ? [] : [new URL(links.publicUrl).hostname]
  return {
    ...(selfApproval === undefined ? {} : { selfApproval }),
    ...(showRuns === undefined ? {} : { showRuns }),
    ...(may === undefined ? {} : { may }),
    clientOf: typeof client === 'function' ? client : () => client,
    procedureOf: (name) => newestOf(procedures, name) ?? ref<Procedure<unknown, unknown>>(name),
    probe: typeof client === 'function' ? async () => {} : () => client.list({ limit: 1 }),
    auth,
    hosts: [...hosts, ...linkHosts].map((host) => host.toLowerCase()),
    basePath,
    origins,
    logger,
    links,
    hooks: hooks === undefined ? undefined : hookAccessOf(hooks),
  }
}

function newestOf(
  procedures: NonNullable<ServerOptions['procedures']>,
  name: string,
): Procedure<unknown, unknown> | undefined {
  return procedures.filter((one) => one.name === name).toSorted((a, b) => b.version - a.version)[0]
}

function checkLinks({ publicUrl, keys }: LinkOptions, client: ServerOptions['client']): void {
  if (typeof client === 'function')
    refuse(
      'links',
      'with a function as `client`',
      'A link has no login by which a store could be chosen. Serve each store by itself.',
    )
  if (!URL.canParse(publicUrl) || !/^https?:$/.test(new URL(publicUrl).protocol))
    refuse(
      'links.publicUrl',
      JSON.stringify(publicUrl),
      'It must be an address such as https://pawl.example.org.',
    )
  if (
    !Array.isArray(keys) ||
    keys.length === 0 ||
    !keys.every((key) => typeof key === 'string' && key.length >= 32)
  )
    refuse(
      'links.keys',
      'other than that',
      'It must list keys of at least 32 characters, the signing one first.',
    )
}

function refuseUnknown(key: string): never {
  const meant = findNearest(key, known)
  throw new PawlError(
    'option-invalid',
    { option: key, given: key },
    {
      what: `There is no option ${key} in the options of createServer.`,
      remedy: `${meant === undefined ? '' : `Did you mean ${meant}? `}Known options: ${known.join(', ')}.`,
    },
  )
}

export function refuse(option: string, given: string, remedy: string): never {
  throw refusal(option, given, remedy)
}

export function refusal(option: string, given: string, remedy: string): PawlError {
  return new PawlError('option-invalid', { option: `${option} of createServer`, given }, { remedy })
}
