import { askKinds } from '../../base/words.ts'
import {
  checkArray,
  checkFunction,
  checkKeys,
  checkObject,
  checkOneOf,
  checkText,
  refuse,
} from '../../checks/options.ts'
import { checkAudience } from '../../checks/people.ts'
import type { Channel, LinkOptions, Recipient } from './channel.ts'

/** @throws PawlError 'option-invalid' */
export function readChannels(given: unknown): readonly Channel[] {
  if (given === undefined) return []
  const names = new Set<string>()
  return checkArray('channels of createEngine', given).map((one) => {
    const channel = readChannel(one)
    if (names.has(channel.name)) refuse('channels of createEngine', channel.name, 'Each name must be unique.')
    names.add(channel.name)
    return channel
  })
}

function readChannel(given: unknown): Channel {
  const channel = checkObject('channels of createEngine', given)
  const { name, can } = channel
  if (typeof name !== 'string' || !/^[a-z0-9-]{1,40}$/.test(name))
    refuse('name of a channel', name, 'It must have 1 to 40 characters of a-z, 0-9 and -.')
  const of = `of channel ${name}`
  checkAbilities(of, can)
  checkFunction(`deliver ${of}`, channel['deliver'])
  for (const optional of ['wants', 'recipients', 'update', 'start'])
    if (channel[optional] !== undefined) checkFunction(`${optional} ${of}`, channel[optional])
  // Not a copy: the methods of a class need their object.
  return given as Channel
}

function checkAbilities(of: string, given: unknown): void {
  const can = checkObject(`can ${of}`, given)
  checkKeys(`can ${of}`, can, ['kinds', 'form', 'identity'])
  checkOneOf(`can.form ${of}`, can['form'], ['none', 'flat', 'full'])
  checkOneOf(`can.identity ${of}`, can['identity'], ['verified', 'link', 'none'])
  if (can['kinds'] === undefined) return
  for (const kind of checkArray(`can.kinds ${of}`, can['kinds']))
    checkOneOf(`can.kinds ${of}`, kind, askKinds)
}

/** @throws PawlError 'option-invalid' */
export function readLinkOptions(given: unknown): LinkOptions | undefined {
  if (given === undefined) return undefined
  const links = checkObject('links of createEngine', given)
  checkKeys('the links of createEngine', links, ['publicUrl', 'keys'])
  const url = checkText('links.publicUrl of createEngine', links['publicUrl'])
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    refuse('links.publicUrl of createEngine', url, 'It must be an address such as https://pawl.example.org.')
  const keys = checkArray('links.keys of createEngine', links['keys'])
  if (keys.length === 0 || !keys.every((key) => typeof key === 'string' && key.length >= 32))
    refuse(
      'links.keys of createEngine',
      keys,
      'It must list keys of at least 32 characters, the signing one first.',
      'these',
    )
  return given as LinkOptions
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
