// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** What `pawl complete` prints where the shell completes names of files. */
export const filesWord = ':files'

/**
 * Scripts that ask `pawl complete` for what may follow. They pass it the words up to the cursor, without quotes, and get lines of a value,
 * a tab and a description.
 */
export const completionScripts: { readonly [shell in Shell]: string } = {
  // Bash splits words at some signs, and replaces only what is behind the last one, or from an @ on.
  bash: `_pawl() {
  local rest="\${COMP_LINE:0:COMP_POINT}" words=() word trimmed raw i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    trimmed="\${rest#"\${rest%%[![:space:]]*}"}"
    if ((i == COMP_CWORD)); then word="$trimmed"; fi
    if ((i > 0)) && [[ "$trimmed" == "$rest" ]]; then words[\${#words[@]}-1]+="$word"; else words+=("$word"); fi
    rest="\${trimmed#"$word"}"
  done
  raw="\${words[\${#words[@]}-1]}"
  for i in "\${!words[@]}"; do
    case "\${words[i]}" in
      \\'*) word="\${words[i]#\\'}" && words[i]="\${word%\\'}" ;;
      \\"*) word="\${words[i]#\\"}" && words[i]="\${word%\\"}" ;;
      *) words[i]="\${words[i]//\\\\/}" ;;
    esac
  done
  local breaks="" sign before="" line
  for sign in : = @; do if [[ "$COMP_WORDBREAKS" == *"$sign"* ]]; then breaks+="$sign"; fi; done
  if [[ "$raw" != [\\'\\"]* && -n "$breaks" ]]; then before="\${raw%"\${raw##*[$breaks]}"}" && before="\${before%@}"; fi
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ "$line" == "${filesWord}" ]]; then compopt -o default 2>/dev/null; return; fi
    line="\${line%%$'\\t'*}"
    if [[ "$raw" != [\\'\\"]* ]]; then printf -v line '%q' "$line"; fi
    COMPREPLY+=("\${line#"$before"}")
  done < <("\${words[0]}" complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _pawl pawl`,
  zsh: `#compdef pawl
_pawl() {
  local -a lines values notes
  local line
  lines=("\${(@f)$("\${(Q)words[1]}" complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == '${filesWord}' ]]; then _files; return; fi
    values+=("\${line%%$'\\t'*}")
    notes+=("\${line/$'\\t'/  -- }")
  done
  compadd -l -d notes -a values
}
if [[ $funcstack[1] == _pawl ]]; then _pawl "$@"; else compdef _pawl pawl; fi`,
  fish: `function __pawl_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct | string trim -l -c "'\\"" | string replace -a '\\\\' '')
  set -l lines ($words[1] complete -- $words[2..] "$current" 2>/dev/null)
  if test "$lines[1]" = '${filesWord}'
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $lines
  end
end
complete -c pawl -f -a '(__pawl_complete)'`,
}

/** How each script is installed, for \`--help\`. */
export const installHelp = `
Install it once:
  bash  echo 'source <(pawl completion bash)' >> ~/.bashrc
  zsh   echo 'source <(pawl completion zsh)' >> ~/.zshrc    (after compinit)
  fish  pawl completion fish > ~/.config/fish/completions/pawl.fish
Then open a new shell. \`pawl\` must be in its PATH, such as by \`npm install --global @pawl/cli\`.`
