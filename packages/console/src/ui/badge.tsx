import type { ReactNode } from 'react'
import styles from './badge.module.css'
import { classes } from './classes.ts'

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'acc' | ''
const TONES: Readonly<Record<Tone, string | undefined>> = {
  ok: styles.success,
  warn: styles.warning,
  bad: styles.danger,
  info: styles.info,
  acc: styles.accent,
  '': undefined,
}

export const Badge = ({ tone = '', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={classes(styles.badge, TONES[tone])}>{children}</span>
)

const STATE_TONES: Readonly<Record<string, Tone>> = {
  active: 'ok',
  paid: 'ok',
  ready: 'ok',
  delivered: 'ok',
  fulfilled: 'ok',
  succeeded: 'ok',
  successful: 'ok',
  completed: 'ok',
  approved: 'ok',
  expiring: 'warn',
  pending: 'warn',
  open: 'warn',
  past_due: 'bad',
  failed: 'bad',
  refused: 'bad',
  rejected: 'bad',
  expired: 'bad',
  dead: 'bad',
  converting: 'info',
  running: 'info',
  uploading: 'acc',
  accepted: 'info',
  placed: 'info',
  awaiting_data: 'info',
}
/** A state of the contract, in words and in colour. */
export const State = ({ of: state }: { of: string }) => (
  <Badge tone={STATE_TONES[state.toLowerCase()] ?? ''}>{state.replaceAll('_', ' ').toLowerCase()}</Badge>
)
