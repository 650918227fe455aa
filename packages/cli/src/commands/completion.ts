import { UsageError } from '../failure.ts'
import { readFlags, type Run } from '../options.ts'
import { print } from '../terminal.ts'

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_groundtrack() {
  local IFS=$'\\n' word=\${COMP_WORDS[COMP_CWORD]}
  local found=$(groundtrack __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
  COMPREPLY=($(compgen -W "$found" -- "$word"))
}
complete -o default -F _groundtrack groundtrack
`,
  zsh: `#compdef groundtrack
_groundtrack() {
  local -a found
  while IFS=$'\\t' read -r name about; do
    found+=("\${name//:/\\\\:}:$about")
  done < <(groundtrack __complete "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)
  (( \${#found} )) && _describe command found || _files
}
compdef _groundtrack groundtrack
`,
  fish: `complete -c groundtrack -a '(groundtrack __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

export const run: Run = async (rest) => {
  const [shell = ''] = readFlags(rest, { positions: 1 }).positions
  const script = SCRIPTS[shell]
  if (script === undefined) throw new UsageError('Specify a shell: bash, zsh or fish')
  await print(script)
}
