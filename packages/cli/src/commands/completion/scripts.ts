// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Printed by `pawl complete` if the shell is to complete file names. */
export const filesWord = ':files'

/**
 * Scripts that ask `pawl complete` for what may follow. They pass it the words up to the cursor, without quotes, and get lines of a value,
 * a tab and a description.
 */
export const completionScripts: { readonly [shell in Shell]: string } = {
  // Bash replaces only what is behind an open quote or the last sign of COMP_WORDBREAKS, or from an @ on, and inserts text as it is.
  // Single quotes prevent the expansion of history: a `!` between double ones cannot be escaped.
  bash: `_pawl_unquote() {
  local word="$1" char opened i
  text="" quote="" before=""
  for ((i = 0; i < \${#word}; i++)); do
    char="\${word:i:1}"
    case "$quote$char" in
      \\' | \\") quote="$char" opened="$text" ;;
      \\'\\' | \\"\\") quote="" ;;
      \\\\) text+="\${word:++i:1}" ;;
      \\"\\\\) if [[ "\${word:i+1:1}" == [\\\\\\"\\$\\\`] ]]; then ((++i)); fi; text+="\${word:i:1}" ;;
      @) if [[ "$COMP_WORDBREAKS" == *@* ]]; then before="$text"; fi; text+=@ ;;
      *) text+="$char"; if [[ -z "$quote" && "$COMP_WORDBREAKS" == *"$char"* ]]; then before="$text"; fi ;;
    esac
  done
  if [[ -n "$quote" ]]; then before="$opened"; fi
}
_pawl() {
  local rest="\${COMP_LINE:0:COMP_POINT}" words=() plain=() word trimmed text quote before sign line i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    trimmed="\${rest#"\${rest%%[![:space:]]*}"}"
    if ((i == COMP_CWORD)); then word="$trimmed"; fi
    if ((i > 0)) && [[ "$trimmed" == "$rest" ]]; then words[\${#words[@]}-1]+="$word"; else words+=("$word"); fi
    rest="\${trimmed#"$word"}"
  done
  for word in "\${words[@]}"; do _pawl_unquote "$word"; plain+=("$text"); done
  if [[ "\${words[0]}" == "~/"* ]]; then plain[0]="$HOME/\${plain[0]:2}"; fi
  COMPREPLY=()
  if [[ "$word" == *\\$[\\'\\"]* ]]; then return; fi
  while IFS= read -r line; do
    if [[ "$line" == "${filesWord}" ]]; then compopt -o default 2>/dev/null; return; fi
    line="\${line%%$'\\t'*}"
    if [[ "$line" != "$text"* ]]; then continue; fi
    line="\${line#"$before"}"
    case "$quote" in
      \\') if [[ "$line" == *\\'* ]]; then continue; fi ;;
      \\")
        if [[ "$line" == *!* ]]; then continue; fi
        for sign in \\\\ \\" \\$ \\\`; do line="\${line//"$sign"/\\\\"$sign"}"; done ;;
      *) printf -v line '%q' "$line" ;;
    esac
    COMPREPLY+=("$line")
  done < <("\${plain[0]}" complete -- "\${plain[@]:1}" 2>/dev/null)
}
complete -F _pawl pawl`,
  zsh: `#compdef pawl
_pawl() {
  local -a lines values notes
  local line program="\${(Q)words[1]}"
  if [[ $words[1] == '~/'* ]]; then program="$HOME/\${program#\\~/}"; fi
  lines=("\${(@f)$("$program" complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
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
  set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
  set -l lines ($program complete -- $words[2..] "$current" 2>/dev/null)
  if test "$lines[1]" = '${filesWord}'
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $lines
  end
end
complete -c pawl -f -a '(__pawl_complete)'`,
}

/** Installation of each script, for \`--help\`. */
export const installHelp = `
Install it once:
  bash  echo 'source <(pawl completion bash)' >> ~/.bashrc
  zsh   echo 'source <(pawl completion zsh)' >> ~/.zshrc    (after compinit)
  fish  pawl completion fish > ~/.config/fish/completions/pawl.fish
Then open a new shell. \`pawl\` must be in its PATH, such as by \`npm install --global @pawl/cli\`.`
