import type { ProcedureDefinition } from '../../authoring/procedure.ts'
import { checkArray, checkFunction, checkObject, refuse } from '../../checks/options.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { readProcedures } from '../procedures.ts'
import type { Plugin } from './plugin.ts'

/** Checks all but their procedures. @throws PawlError 'option-invalid' */
export function readPlugins(option: string, given: unknown): readonly Plugin[] {
  const plugins = checkArray(option, given).map((one, index) => readPlugin(option, one, index))
  const places = new Map<string, number>()
  for (const [index, { name }] of plugins.entries()) {
    const first = places.get(name)
    if (first !== undefined)
      refuse(
        option,
        plugins,
        `Plug-ins ${first + 1} and ${index + 1} of the list are both named ${name}: make one plug-in of them, or rename one.`,
        'these',
      )
    places.set(name, index)
  }
  return plugins
}

function readPlugin(option: string, given: unknown, index: number): Plugin {
  if (typeof given === 'function') refuse(option, given, 'Call the function, and pass what it returns.')
  const plugin = checkObject(`plug-in ${index + 1} of ${option}`, given ?? null)
  const { name, procedures, start } = plugin
  if (typeof name !== 'string' || !/^[a-z0-9-]{1,40}$/.test(name))
    refuse(`name of plug-in ${index + 1}`, name, 'It must have 1 to 40 characters of a-z, 0-9 and -.')
  const of = `of plug-in ${name}`
  if ('deliver' in plugin)
    refuse(option, given, 'It is a channel: pass channels([…]) of @pawl/channels.', `channel ${name}`)
  if (procedures === undefined && start === undefined)
    refuse(option, given, 'It must have procedures or start.', `plug-in ${name}`)
  if (start !== undefined) checkFunction(`start ${of}`, start)
  // Not a copy: the methods of a class need their object.
  return given as Plugin
}

/**
 * Returns the procedures of an engine and of its plug-ins. The versions of a procedure belong together, so each name has one owner.
 * @throws PawlError 'procedure-duplicate'
 */
export function joinProcedures(
  own: readonly ProcedureDefinition[],
  plugins: readonly Plugin[],
): readonly ProcedureDefinition[] {
  if (plugins.length === 0) return own
  const all = [...own]
  const owners = new Map(own.map(({ name }) => [name, 'the option procedures']))
  for (const { name: plugin, procedures = [] } of plugins) {
    const owner = `plug-in ${plugin}`
    for (const definition of readProcedures(`procedures of ${owner}`, procedures)) {
      const { name } = definition
      const other = owners.get(name) ?? owner
      if (other !== owner)
        throw new PawlError(
          'procedure-duplicate',
          { procedure: name },
          {
            what: `Both ${other} and ${owner} have a procedure named ${name}.`,
            remedy: 'Rename one of them, or leave out the plug-in.',
          },
        )
      owners.set(name, owner)
      all.push(definition)
    }
  }
  return all
}
