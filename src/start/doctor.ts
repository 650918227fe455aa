/** Finds unsafe settings: logged at every start, and printed by `npm run doctor`. */
import type { Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import { DAY_MS } from '#core/time.ts'

interface Finding {
  readonly setting: string
  readonly advice: string
}

type Rule = (config: Config, now: Date) => Finding | null

const RULES: readonly Rule[] = [
  ({ isLocal, demo }) =>
    !isLocal && demo ? { setting: 'DEMO', advice: 'the demo account is enabled and its password is public: set DEMO=0' } : null,
  ({ isLocal, payments }) =>
    !isLocal && payments === 'sandbox'
      ? { setting: 'PAYMENTS', advice: 'the sandbox charges no real money, so anyone who signs up gets free credits: set stripe or none' }
      : null,
  ({ isLocal, sandbox }) =>
    !isLocal && sandbox
      ? { setting: 'SANDBOX', advice: 'simulated vendors would sell synthetic imagery to strangers: set SANDBOX=0' }
      : null,
  ({ isLocal, baseUrl }) =>
    !isLocal && baseUrl.startsWith('http:')
      ? { setting: 'BASE_URL', advice: `${baseUrl} is plain http: passwords and tokens can be intercepted; use https` }
      : null,
  ({ isLocal, baseUrl }) =>
    !isLocal && /^https?:\/\/(localhost|127\.|\[::1\])/.test(baseUrl)
      ? { setting: 'BASE_URL', advice: 'links in responses point to this machine: set the public URL' }
      : null,
  ({ isLocal, trustedProxies }) =>
    !isLocal && trustedProxies.length === 0
      ? {
          setting: 'TRUSTED_PROXIES',
          advice: "behind a proxy all callers share its address, and one person's failed sign-ins lock everyone out: list the proxy",
        }
      : null,
  ({ trustedProxies }) =>
    trustedProxies.some((network) => Number(network.split('/')[1] ?? 32) < 8)
      ? { setting: 'TRUSTED_PROXIES', advice: 'a network this wide lets strangers forge the address that rate limits use' }
      : null,
  ({ isLocal, metricsToken }) =>
    isLocal || metricsToken ? null : { setting: 'METRICS_TOKEN', advice: '/metrics is closed without it; set one to monitor the service' },
  ({ metricsToken }) =>
    metricsToken && metricsToken.length < MIN_TOKEN_LENGTH
      ? { setting: 'METRICS_TOKEN', advice: `too easy to guess: use ${MIN_TOKEN_LENGTH} characters or more` }
      : null,
  ({ isLocal, egressAllow }) =>
    !isLocal && egressAllow.length > 0
      ? {
          setting: 'EGRESS_ALLOW',
          advice: `strangers can make the service send requests to ${egressAllow.join(', ')}; it is meant for development`,
        }
      : null,
  ({ exchangeRates: { day } }, now) =>
    day !== null && now.getTime() - Date.parse(day) > MAX_RATE_AGE_DAYS * DAY_MS
      ? {
          setting: 'EXCHANGE_RATES',
          advice: `the rates are of ${day}, more than ${MAX_RATE_AGE_DAYS} days old: vendors are paid at today's`,
        }
      : null,
  ({ isLocal, stripeSecretKey }) =>
    !isLocal && stripeSecretKey.startsWith('sk_test_')
      ? { setting: 'STRIPE_SECRET_KEY', advice: 'a test key charges nobody, but credits are granted nevertheless' }
      : null,
  ({ payments, stripeWebhookSecret }) =>
    payments === 'stripe' && !stripeWebhookSecret
      ? {
          setting: 'STRIPE_WEBHOOK_SECRET',
          advice: "without it the processor's webhooks are rejected, and payments are settled only by the sweep",
        }
      : null,
]

/** Shorter secrets can be guessed. */
const MIN_TOKEN_LENGTH = 20

/** Older exchange rates are probably wrong by more than the margin. */
const MAX_RATE_AGE_DAYS = 31

export function findings(config: Config, now: Date = systemClock.now()): string[] {
  return RULES.flatMap((rule) => rule(config, now) ?? []).map(({ setting, advice }) => `${setting}: ${advice}`)
}
