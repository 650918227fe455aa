/** Small images side by side, each with a caption. A frame is a link or a button with the class `frame`. */
import type { ReactElement, ReactNode } from 'react'
import { AuthImage } from '../ui/auth-image.tsx'
import { classes } from '../ui/classes.ts'
import styles from './filmstrip.module.css'

export const Filmstrip = ({ columns = 2, children }: { columns?: 2 | 3; children: ReactNode }): ReactElement => (
  <div className={classes(styles.filmstrip, columns === 3 && styles.threeFrames)}>{children}</div>
)

/** The caption is for the eye; the frame has a label. */
export const FilmstripImage = ({ path, caption }: { path: string | null; caption: string }): ReactElement => (
  <>
    <AuthImage path={path} alt="" />
    <span className={styles.caption} aria-hidden="true">
      {caption}
    </span>
  </>
)
