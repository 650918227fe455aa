import type { ReactElement } from 'react'
import styles from './progress-bar.module.css'

export function Bar({
  share,
  label,
  isNearLimit = false,
  hatched = 0,
}: {
  share: number
  label: string
  isNearLimit?: boolean
  hatched?: number
}): ReactElement {
  const clamp = (value: number) => Math.max(0, Math.min(100, value * 100))
  return (
    <div
      className={styles.track}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(clamp(share))}
    >
      {hatched > 0 && <i className={styles.hatched} style={{ width: `${clamp(share + hatched)}%` }} />}
      <i className={isNearLimit ? styles.signal : undefined} style={{ width: `${clamp(share)}%` }} />
    </div>
  )
}
