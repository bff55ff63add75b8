// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell
import type { Command } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** A script that completes the names of commands and flags. */
export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    flags: command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])),
  }))
  const names = commands.map(({ name }) => name).join(' ')
  switch (shell) {
    case 'bash':
      return [
        '_pawl() {',
        '  local word="${COMP_WORDS[COMP_CWORD]}"',
        `  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${names}" -- "$word")); return; fi`,
        '  case "${COMP_WORDS[1]}" in',
        ...commands.map(
          ({ name, flags }) => `    ${name}) COMPREPLY=($(compgen -W "${flags.join(' ')}" -- "$word")) ;;`,
        ),
        '  esac',
        '}',
        'complete -o default -F _pawl pawl',
      ].join('\n')
    case 'zsh':
      return [
        '#compdef pawl',
        '_pawl() {',
        '  local -a commands',
        `  commands=(${commands.map(({ name, description }) => `'${name}:${description.replaceAll("'", '’')}'`).join(' ')})`,
        "  if (( CURRENT == 2 )); then _describe 'command' commands; return; fi",
        '  case "$words[2]" in',
        ...commands.map(({ name, flags }) => `    ${name}) compadd -- ${flags.join(' ')} ;;`),
        '  esac',
        '}',
        'compdef _pawl pawl',
      ].join('\n')
    case 'fish':
      return commands
        .flatMap(({ name, description, flags }) => [
          `complete -c pawl -n __fish_use_subcommand -a ${name} -d '${description.replaceAll("'", '’')}'`,
          ...flags.map(
            (flag) => `complete -c pawl -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`,
          ),
        ])
        .join('\n')
  }
}
