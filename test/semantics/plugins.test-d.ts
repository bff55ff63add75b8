import { type Channel, channels } from '@pawl/channels'
import { createEngine, type Plugin, type PluginOption, procedure, type Refused } from '@pawl/core'
import { webhooks } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expectTypeOf, test } from 'vitest'

declare const desk: Channel
const idle = procedure({ name: 'pawl.idle' }, async () => {})
const engineWith = (plugins: readonly PluginOption[]) =>
  createEngine({ store: memory(), procedures: [], plugins })

test('plug-ins are objects with a name', () => {
  void engineWith([channels([desk]), webhooks({ keys: ['k'] }), { name: 'idle', procedures: [idle] }])
  void engineWith([{ name: 'a', start: (client, host) => void host.follow('b', () => void client.list()) }])
  void engineWith([
    {
      name: 'a',
      start:
        async (_, { signal }) =>
        () =>
          signal.throwIfAborted(),
    },
  ])
  // @ts-expect-error -- it has no name
  void engineWith([{ procedures: [idle] }])
  // @ts-expect-error -- a misspelt member
  void engineWith([{ name: 'a', procedure: [idle] }])
  // @ts-expect-error -- a function is no procedure
  void engineWith([{ name: 'a', procedures: [async () => {}] }])
  // @ts-expect-error -- what is returned is called when the plug-in stops
  void engineWith([{ name: 'a', start: () => 'started' }])
  // @ts-expect-error -- of the first argument a plug-in can use what a client has
  void engineWith([{ name: 'a', start: (client) => client.stopAll() }])
})

test('what is mistaken for a plug-in is refused with a sentence', () => {
  // @ts-expect-error -- a channel
  void engineWith([desk])
  // @ts-expect-error -- a procedure
  void engineWith([idle])
  // @ts-expect-error -- a function that was not called
  void engineWith([channels])
  expectTypeOf<PluginOption>().toExtend<Plugin>()
  expectTypeOf<NonNullable<PluginOption['deliver']>>().toEqualTypeOf<
    Refused<'A channel is not a plug-in: pass channels([…]) of @pawl/channels.'>
  >()
  expectTypeOf<NonNullable<PluginOption['schemas']>>().toEqualTypeOf<
    Refused<'A procedure is not a plug-in: pass it in the option procedures.'>
  >()
  expectTypeOf<NonNullable<PluginOption['apply']>>().toEqualTypeOf<
    Refused<'A function is not a plug-in: call it, and pass what it returns.'>
  >()
})
