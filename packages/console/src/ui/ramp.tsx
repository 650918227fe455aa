/** The colours of a colormap, from the lowest value to the highest. */
import type { ReactElement } from 'react'
import styles from './ramp.module.css'

export const Ramp = ({ background }: { background: string }): ReactElement => <div className={styles.ramp} style={{ background }} />
