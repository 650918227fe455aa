/** `npm run doctor`: reads the settings that a start would read, and names each unsafe one. Exits with 1 if there is any. */
import { loadConfig } from '#config.ts'
import { ConfigError } from '#core/settings.ts'
import { findings } from '#start/doctor.ts'

try {
  const config = loadConfig(process.env)
  const problems = findings(config)
  const where = config.isLocal
    ? `Local: only this machine can reach ${config.baseUrl}.`
    : `Not local: others can reach ${config.baseUrl}, so the demo, sandbox payments and sign-up as an operator are off unless set.`
  process.stdout.write(`${[where, ...problems, problems.length === 0 ? 'Nothing unsafe was found.' : ''].filter(Boolean).join('\n')}\n`)
  if (problems.length > 0) process.exitCode = 1
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
