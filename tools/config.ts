/** `npm run config -- check`: shows the settings that a start would use, and checks what they name. Exits with 1 if a check fails. */
import { ConfigError } from '#core/settings.ts'
import { checkConfig, givenSettings } from '#start/config-check.ts'

const USAGE = `Usage: npm run config -- check

Shows the settings of the environment and of the file in CONFIG_FILE, then checks the files and servers that they name,
and lists unsafe settings. Changes nothing, and needs no running service.`

async function run([command, ...rest]: readonly string[]): Promise<number> {
  if (command !== 'check' || rest.length > 0) {
    process.stderr.write(`${USAGE}\n`)
    return 1
  }
  const given = givenSettings(process.env)
  process.stdout.write(`Settings\n${given.map((line) => `  ${line}\n`).join('') || '  all at their defaults\n'}\nChecks\n`)
  const checks = await checkConfig(process.env)
  for (const { name, detail, isOk } of checks) process.stdout.write(`  ${isOk ? '✓' : '✗'} ${name}: ${detail}\n`)
  return checks.every(({ isOk }) => isOk) ? 0 : 1
}

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
