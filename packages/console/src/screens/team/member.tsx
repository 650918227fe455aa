/** One member: role, caps edited in the cell, the way out. */
import { useState, type ReactElement } from 'react'
import type { OrganizationMember } from '../../api/contract.ts'
import { useAct } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { count, initials } from '../../ui/format.ts'
import { Badge, Button, Choice } from '../../ui/kit.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './team.module.css'
import fieldStyles from '../../ui/field.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

export function MemberRow({ member }: { member: OrganizationMember }): ReactElement {
  const who = useWho()
  const limit = useAct('organizations.members.set_spend_limit', ['organizations.members'])
  const remove = useAct('organizations.members.remove', ['organizations.members'])
  const setLimit = (patch: Partial<Pick<OrganizationMember, 'per_order_limit_credits' | 'spend_limit_credits'>>) => {
    const next = { ...member, ...patch }
    limit.mutate(
      {
        organizationId: who.organizationId,
        userId: member.user_id,
        perOrderLimitCredits: next.per_order_limit_credits,
        spendLimitCredits: next.spend_limit_credits,
      },
      { onError: (error) => void toast(error.message, 'bad'), onSuccess: () => void toast(`Caps updated for ${member.name}`) },
    )
  }
  const isSelf = member.user_id === who.userId
  return (
    <tr>
      <td>
        <div className={classes(ui.flexRow, ui.gap12)}>
          <span className={ui.avatar}>{initials(member.name)}</span>
          <span>
            <b>{member.name}</b>
            <br />
            <span className={classes(ui.soft, ui.small)}>{member.email}</span>
            {member.has_two_factors && (
              <TwoFactorBadge member={member} canReset={!isSelf && (member.role !== 'owner' || who.role === 'owner')} />
            )}
          </span>
        </div>
      </td>
      <td>
        <RoleCell member={member} isSelf={isSelf} />
      </td>
      <td className={tableStyles.number} data-label="per order">
        <CapCell
          label={`Cap per order of ${member.name}`}
          cap={member.per_order_limit_credits}
          onSet={(cap) => setLimit({ per_order_limit_credits: cap })}
        />
      </td>
      <td className={tableStyles.number} data-label="in 30 days">
        <CapCell
          label={`Cap in 30 days of ${member.name}`}
          cap={member.spend_limit_credits}
          onSet={(cap) => setLimit({ spend_limit_credits: cap })}
        />
      </td>
      <td className={tableStyles.number}>
        {!isSelf && member.role !== 'owner' && (
          <Button
            size="s"
            variant="danger"
            busy={remove.isPending}
            onClick={() => remove.mutate({ user_id: member.user_id }, { onError: (error) => void toast(error.message, 'bad') })}
          >
            Remove
          </Button>
        )}
      </td>
    </tr>
  )
}

/** For members who have lost their factors: an admin who knows them removes what is left. */
function TwoFactorBadge({ member, canReset }: { member: OrganizationMember; canReset: boolean }): ReactElement {
  const reset = useAct('organizations.members.reset_two_factors', ['organizations.'])
  const [isAsking, setAsking] = useState(false)
  return (
    <span className={classes(ui.block, ui.small)}>
      <Badge tone="ok">two factors</Badge>{' '}
      {canReset && (
        <button type="button" className={ui.asLink} aria-label={`Reset second factors of ${member.name}`} onClick={() => setAsking(true)}>
          Reset
        </button>
      )}
      {isAsking && (
        <Dialog title={`Reset second factors of ${member.name}`} onClose={() => setAsking(false)}>
          <div className={classes(ui.flexColumn, ui.gap12)}>
            <p>Their second factors are removed and their sessions end; the password alone then signs in. They are told by email.</p>
            <p>Make sure that it is really {member.name} who asks.</p>
            <FormProblem error={reset.error} />
            <Button
              variant="danger"
              busy={reset.isPending}
              onClick={() =>
                reset.mutate(
                  { user_id: member.user_id },
                  {
                    onSuccess: () => {
                      toast(`Second factors of ${member.name} removed`)
                      setAsking(false)
                    },
                  },
                )
              }
            >
              Reset second factors
            </Button>
          </div>
        </Dialog>
      )}
    </span>
  )
}

function RoleCell({ member, isSelf }: { member: OrganizationMember; isSelf: boolean }): ReactElement {
  const who = useWho()
  const role = useAct('organizations.members.set_role', ['organizations.members', '/auth/me'])
  if (isSelf || (member.role === 'owner' && who.role !== 'owner')) return <Badge tone="acc">{member.role}</Badge>
  return (
    <Choice
      label={`Role of ${member.name}`}
      hideLabel
      value={member.role}
      onChange={(event) =>
        role.mutate(
          { user_id: member.user_id, role: event.target.value as 'admin' },
          { onError: (error) => void toast(error.message, 'bad') },
        )
      }
      options={[...(who.role === 'owner' ? ['owner'] : []), 'admin', 'member'].map((role) => ({ value: role, text: role }))}
    />
  )
}

const capText = (cap: number | null) => (cap === null ? 'none' : cap === 0 ? '0, cannot spend' : count(cap))

/** Empty is no cap, 0 may not spend; Enter keeps, Esc undoes. */
function CapCell({ label, cap, onSet }: { label: string; cap: number | null; onSet(cap: number | null): void }): ReactElement {
  const [text, setText] = useState<string | null>(null)
  const keep = () => {
    if (text === null) return
    const next = text.trim() === '' ? null : Math.max(0, Math.round(Number(text.replaceAll(',', ''))))
    setText(null)
    if (next !== cap && (next === null || Number.isFinite(next))) onSet(next)
  }
  if (text === null)
    return (
      <button
        type="button"
        className={classes(ui.asText, styles.editable, ui.numeric)}
        aria-label={`${label}: ${capText(cap)}. Change`}
        onClick={() => setText(cap === null ? '' : String(cap))}
      >
        {capText(cap)}
      </button>
    )
  return (
    <input
      className={classes(fieldStyles.input, fieldStyles.small, fieldStyles.numberBox)}
      aria-label={label}
      autoFocus
      inputMode="numeric"
      placeholder="none"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={keep}
      onKeyDown={(event) => {
        if (event.key === 'Enter') keep()
        if (event.key === 'Escape') setText(null)
      }}
    />
  )
}
