import type { AskKind, LinkOptions } from '@pawl/core'
import {
  askKinds,
  checkArray,
  checkAudience,
  checkFunction,
  checkObject,
  checkOneOf,
  checkText,
  oneOf,
  optional,
  readOptions,
  readPart,
  refuse,
  required,
  type Spec,
} from '@pawl/core/internal'
import type { Channel, ChannelsOptions, Recipient } from './channel.ts'

/** @throws PawlError 'option-invalid' */
export function readChannels(given: unknown): readonly Channel[] {
  const option = 'the list of channels'
  const names = new Set<string>()
  return checkArray(option, given).map((one) => {
    const channel = readChannel(option, one)
    if (names.has(channel.name)) refuse(option, channel.name, 'Each name must be unique.')
    names.add(channel.name)
    return channel
  })
}

const abilityOptions = {
  kinds: optional(checkKinds),
  form: required(oneOf(['none', 'flat', 'full'])),
  identity: required(oneOf(['verified', 'link', 'none'])),
} satisfies Spec<Channel['can']>

function readChannel(option: string, given: unknown): Channel {
  const channel = checkObject(option, given)
  const { name, can } = channel
  if (typeof name !== 'string' || !/^[a-z0-9-]{1,40}$/.test(name))
    refuse('name of a channel', name, 'It must have 1 to 40 characters of a-z, 0-9 and -.')
  const of = `of channel ${name}`
  readPart(`can ${of}`, can, abilityOptions)
  checkFunction(`deliver ${of}`, channel['deliver'])
  for (const optional of ['wants', 'recipients', 'update', 'start'])
    if (channel[optional] !== undefined) checkFunction(`${optional} ${of}`, channel[optional])
  if (channel['notices'] !== undefined) checkNotices(`notices ${of}`, channel['notices'])
  // Not a copy: the methods of a class need their object.
  return given as Channel
}

function checkNotices(option: string, given: unknown): void {
  const notices = checkObject(option, given)
  checkFunction(`deliver of ${option}`, notices['deliver'])
  for (const optional of ['wants', 'recipients'])
    if (notices[optional] !== undefined) checkFunction(`${optional} of ${option}`, notices[optional])
}

function checkKinds(option: string, given: unknown): readonly AskKind[] {
  return checkArray(option, given).map((kind) => checkOneOf(option, kind, askKinds))
}

const linkOptions = {
  publicUrl: required(checkPublicUrl),
  keys: required(checkLinkKeys),
} satisfies Spec<LinkOptions>

const channelsOptions = {
  links: optional((option, given) => readPart(option, given, linkOptions, `the ${option}`), undefined),
} satisfies Spec<ChannelsOptions>

/** @throws PawlError 'option-invalid' */
export function readChannelsOptions(given: unknown): { readonly links: LinkOptions | undefined } {
  return readOptions('of channels', given, channelsOptions)
}

function checkPublicUrl(option: string, given: unknown): string {
  const url = checkText(option, given)
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    refuse(option, url, 'It must be an address such as https://pawl.example.org.')
  return url
}

function checkLinkKeys(option: string, given: unknown): LinkOptions['keys'] {
  const keys = checkArray(option, given)
  if (keys.length > 0 && keys.every((key) => typeof key === 'string' && key.length >= 32))
    return given as LinkOptions['keys']
  const allowed = 'It must list keys of at least 32 characters, the signing one first.'
  return refuse(option, keys, allowed, 'these')
}

const maxRecipients = 1_000

/** Checks what a channel returns, inside its step. @throws PawlError 'option-invalid' */
export function checkRecipients(channel: string, given: unknown): readonly Recipient[] {
  const option = `recipients of channel ${channel}`
  const listed = checkArray(option, given).map((one) => {
    const { name, address } = checkObject(option, one)
    const known = { name: checkAudience(option, name) }
    return address === undefined ? known : { ...known, address: checkText(option, address) }
  })
  if (listed.length > maxRecipients)
    refuse(option, listed.length, `There must be at most ${maxRecipients}.`, `${listed.length} recipients`)
  if (new Set(listed.map(({ name }) => name)).size < listed.length)
    refuse(option, given, 'Each name must be listed once.')
  return listed
}

/** Returns the `ref` of what was delivered; null without one. @throws PawlError 'option-invalid' */
export function checkRef(channel: string, given: unknown): string | null {
  const { ref } = checkObject(`result of deliver of channel ${channel}`, given)
  if (ref === undefined) return null
  const text = checkText(`ref of channel ${channel}`, ref)
  if (text.length > 2_000)
    refuse(`ref of channel ${channel}`, text, 'It must have at most 2,000 characters.', 'that long')
  return text
}
