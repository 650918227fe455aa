/** Buttons, and links that look like one. */
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactElement, ReactNode, Ref } from 'react'
import styles from './button.module.css'
import { classes } from './classes.ts'
import { Icon, type IconName } from './icons.tsx'

interface ButtonStyle {
  variant?: 'plain' | 'primary' | 'quiet' | 'danger'
  size?: 's' | 'm' | 'l'
  wide?: boolean
  /** It is an icon alone. */
  alone?: boolean
}

interface ButtonParts extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'>, Omit<ButtonStyle, 'alone'> {
  icon?: IconName
  busy?: boolean
  children?: ReactNode
  ref?: Ref<HTMLButtonElement>
  /** For a button that is an icon alone. */
  label?: string
}

const SIZES = { s: styles.small, m: undefined, l: styles.large }
const VARIANTS = { plain: undefined, primary: styles.primary, quiet: styles.quiet, danger: styles.danger }

/** The classes of a button, for elements that only look like one. */
const buttonClass = ({ variant = 'plain', size = 'm', wide, alone }: ButtonStyle) =>
  classes(styles.button, VARIANTS[variant], SIZES[size], wide && styles.wide, alone && styles.iconOnly)

export function Button({ variant, size, icon, wide, busy, label, children, disabled, className, ...rest }: ButtonParts): ReactElement {
  return (
    <button
      type="button"
      {...rest}
      className={classes(buttonClass({ variant, size, wide, alone: children === undefined }), className)}
      aria-label={label}
      title={label}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

interface LinkButtonParts extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'children'>, Omit<ButtonStyle, 'alone'> {
  icon?: IconName
  children?: ReactNode
  label?: string
}

function ButtonAnchor({ variant, size, icon, wide, children, label, ...anchor }: LinkButtonParts): ReactElement {
  return (
    <a {...anchor} className={buttonClass({ variant, size, wide, alone: children === undefined })} aria-label={label} title={label}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}

/** A way to another screen that looks like a button; its parameters are those of the route. */
export const LinkButton = createLink(ButtonAnchor)
