import qrcode from 'qrcode-generator'
import type { ReactElement } from 'react'
import { classes } from './classes.ts'
import styles from './qr-code.module.css'

/** Black on white in both themes: cameras need it. */
export function QrCode({ text, label, isLarge }: { text: string; label: string; isLarge?: boolean }): ReactElement {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  const size = code.getModuleCount()
  const path = Array.from({ length: size * size }, (_, index) => index)
    .filter((index) => code.isDark(Math.floor(index / size), index % size))
    .map((index) => `M${index % size} ${Math.floor(index / size)}h1v1h-1z`)
    .join('')
  return (
    <svg
      className={classes(styles.qrCode, isLarge && styles.large)}
      viewBox={`-2 -2 ${size + 4} ${size + 4}`}
      role="img"
      aria-label={label}
    >
      <rect x={-2} y={-2} width={size + 4} height={size + 4} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
