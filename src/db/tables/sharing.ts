import type { SharePermission, ShareTarget } from '#core/vocabulary.ts'
import type { Generated } from 'kysely'

export interface SharingTables {
  share_link: {
    id: string
    org_id: string
    project_id: string
    token_hash: Buffer
    password_hash: string
    target_type: ShareTarget
    target_id: string
    item_seq: number | null
    collection_id: string | null
    map_id: string | null
    permission: SharePermission
    is_public: Generated<boolean>
    expires_at: Date
    revoked_at: Date | null
    access_count: Generated<number>
    last_accessed_at: Date | null
    created_by: string | null
    creator_id: string | null
    created_at: Date
  }
}
