/** Made from the published contract (docs/openapi.json). */

export interface Operations {
  'api_keys.create': {
    input: { name: string; permissions?: ('read' | 'write' | 'process')[]; rate_limit?: number | null; expires_in_days?: number | null }
    output: {
      id: string
      key: string
      prefix: string
      name: string
      permissions: ('read' | 'write' | 'process')[]
      rate_limit: number | null
      expires_at: string | null
      created_at: string
    }
  }
  'api_keys.list': { input: Record<string, never>; output: ApiKey[] }
  'api_keys.revoke': { input: { key_id: string }; output: { ok: true; id: string } }
  'assets.delete': { input: { item_id: string; asset_id: string }; output: { ok: true; id: string } }
  'billing.approvals.approve': {
    input: { approval_id: string }
    output: {
      id: string
      status: 'pending' | 'approved' | 'rejected' | 'used' | 'expired'
      credits: number | null
      operation: string | null
      input: Record<string, unknown> | null
      reason: string | null
      requested_by: string
      decided_by: string | null
      decision_reason: string | null
      created_at: string
      decided_at: string | null
      expires_at: string
      used_at: string | null
      result: Record<string, unknown> | null
    }
  }
  'billing.approvals.get': { input: { approval_id: string }; output: SpendApproval }
  'billing.approvals.list': {
    input: { status?: 'pending' | 'approved' | 'rejected' | 'used' | 'expired' | null }
    output: { approvals: SpendApproval[]; count: number }
  }
  'billing.approvals.reject': { input: { approval_id: string; reason?: string | null }; output: SpendApproval }
  'billing.approvals.request': {
    input: {
      credits?: number | null
      expiry_hours?: number | null
      operation?: string | null
      input?: Record<string, unknown> | null
      reason?: string | null
    }
    output: SpendApproval
  }
  'billing.auto_topup.get': {
    input: Record<string, never>
    output: {
      enabled: boolean
      threshold_credits: number | null
      topup_amount_credits: number | null
      daily_charge_cap_aud: number | null
      charged_today_aud: number
      last_attempt_at: string | null
    }
  }
  'billing.credits.balance': {
    input: Record<string, never>
    output: {
      balance_credits: number
      reserved_credits: number
      available_credits: number
      currency: 'AUD'
      balance_aud: number
      auto_topup_enabled: boolean
    }
  }
  'billing.credits.transactions': {
    input: {
      limit?: number
      offset?: number
      reason?: 'grant' | 'topup' | 'bonus' | 'reservation' | 'capture' | 'release' | 'refund' | 'adjustment' | null
    }
    output: { transactions: CreditTransaction[]; total: number }
  }
  'billing.invoices.get': {
    input: { invoice_id: string }
    output: {
      id: string
      number: string
      period: string
      status: 'open' | 'paid' | 'past_due'
      currency: 'AUD'
      subtotal_aud: number
      gst_aud: number
      total_aud: number
      due_aud: number
      issued_at: string
      due_at: string
      paid_at: string | null
      reference: string | null
      lines: InvoiceLine[]
      document_url: string
    }
  }
  'billing.invoices.list': { input: { limit?: number }; output: { invoices: Invoice[]; count: number } }
  'billing.plan.change': {
    input: { plan_id: 'free' | 'team' | 'business' }
    output: {
      plan: Plan
      previous_plan_id: string
      changed: boolean
      effective_at: string
      reactivated_items: number
      continues_in_background: boolean
      exceeded: { limit: 'storage_bytes' | 'compute_jobs'; used: number; allowed: number; message: string }[]
    }
  }
  'billing.plans.list': { input: Record<string, never>; output: { plans: Plan[]; count: number; current_plan_id: string | null } }
  'billing.run_monthly_for_org': {
    input: { organization_id: string; period?: string | null }
    output: { organization_id: string; closed: boolean; invoice: Invoice; lines: InvoiceLine[] }
  }
  'billing.set_auto_topup': {
    input: { enabled: boolean; threshold_credits: number; topup_amount_credits: number; daily_charge_cap_aud?: number | null }
    output: AutoTopup
  }
  'billing.status.get': {
    input: { organization_id: string }
    output: {
      organization_id: string
      plan: string
      billing_mode: 'credit' | 'card' | 'enterprise'
      enterprise_billing_status: 'none' | 'requested' | 'confirmed'
      subscription_status: 'active' | 'past_due'
      currency: 'AUD'
      balance_credits: number
      available_credits: number
      has_default_card: boolean
      auto_topup_enabled: boolean
      quotas: { storage_bytes: Quota; compute_jobs: Quota }
    }
  }
  'billing.stripe_invoices.list': { input: { limit?: number }; output: { invoices: ProcessorInvoice[]; count: number } }
  'billing.topup': {
    input: { aud_cents?: number; credits?: number }
    output: {
      topup_attempt_id: string
      payment_intent_id: string
      status: 'succeeded' | 'processing' | 'failed'
      credits_granted: number
      new_balance: number
      bonus_credits: number
    }
  }
  'catalog.aggregate': {
    input: {
      collections?: string[] | null
      ids?: string[] | null
      datetime?: string | null
      query?: Record<string, unknown> | null
      bbox?: number[] | null
      intersects?: Record<string, unknown> | null
      full_catalog?: boolean | null
      source_ids?: string[] | null
      data_types?: ('raster' | 'dem' | 'pointcloud' | 'altimetry' | 'vector')[] | null
      by?: ('day' | 'source' | 'cloud')[]
    }
    output: { buckets: SceneBucket[]; total: number; complete: boolean; sources: CountedSource[] }
  }
  'catalog.federated_search': {
    input: {
      collections?: string[] | null
      ids?: string[] | null
      datetime?: string | null
      query?: Record<string, unknown> | null
      bbox?: number[] | null
      intersects?: Record<string, unknown> | null
      full_catalog?: boolean | null
      source_ids?: string[] | null
      data_types?: ('raster' | 'dem' | 'pointcloud' | 'altimetry' | 'vector')[] | null
      limit?: number
    }
    output: { type: 'FeatureCollection'; features: CatalogScene[]; numberReturned: number; sources: SourceReport[] }
  }
  'catalog.granule_points': {
    input: { collection: string; href: string; bbox: number[]; max_points?: number; clip_polygon?: Record<string, unknown> | null }
    output: { points: number[][]; value_label: string; value_range: number[]; count: number; returned: number; subsampled: boolean }
  }
  'catalog.image.quicklook': { input: { host_name: string; image_id: string }; output: string }
  'catalog.image.thumbnail': { input: { host_name: string; image_id: string }; output: string }
  'catalog.info.landsat': { input: { scene_id: string }; output: PublicSceneInfo }
  'catalog.info.naip': { input: { scene_id: string }; output: PublicSceneInfo }
  'catalog.info.sample': { input: { provider: string; scene_id: string }; output: PublicSceneInfo }
  'catalog.info.sentinel': { input: { scene_id: string }; output: PublicSceneInfo }
  'catalog.item.get': { input: { host_name: string; id: string }; output: CatalogScene }
  'catalog.provider.samples': {
    input: { provider: string; limit?: number; offset?: number }
    output: { samples: ProviderSample[]; count: number; total: number }
  }
  'catalog.providers.list': { input: Record<string, never>; output: { providers: PublicProvider[]; count: number } }
  'catalog.search': {
    input: {
      host_name: string
      collections?: string[] | null
      ids?: string[] | null
      datetime?: string | null
      query?: Record<string, unknown> | null
      bbox?: number[] | null
      intersects?: Record<string, unknown> | null
      full_catalog?: boolean | null
      limit?: number
      next?: string | null
    }
    output: {
      type: 'FeatureCollection'
      features: CatalogScene[]
      numberReturned: number
      links: { rel: string; href: string; type?: string; method?: string; body?: Record<string, unknown> }[]
    }
  }
  'catalog.search_stream': {
    input: {
      host_name: string
      collections?: string[] | null
      ids?: string[] | null
      datetime?: string | null
      query?: Record<string, unknown> | null
      bbox?: number[] | null
      intersects?: Record<string, unknown> | null
      full_catalog?: boolean | null
      limit?: number
      next?: string | null
    }
    output: CatalogScene | { type: 'Summary'; numberReturned: number; next: string | null }
  }
  'catalog.sources.list': {
    input: {
      data_type?: 'raster' | 'dem' | 'pointcloud' | 'altimetry' | 'vector' | null
      scope?: 'global' | 'regional' | 'national' | null
      country?: string | null
    }
    output: { sources: CatalogSource[] }
  }
  'catalog.tile.render': {
    input: {
      collection: string
      scene_id: string
      visualization?: string
      z: number
      x: number
      y: number
      format: 'png' | 'webp' | 'jpg' | 'jpeg'
      provider?: string | null
      quality?: number | null
      aoi_clip?: string | null
      aoi_clip_body?: Record<string, unknown> | null
      expression?: string | null
      colormap?: string | null
      rescale?: string | null
    }
    output: string
  }
  'catalog.vendors.list': { input: Record<string, never>; output: { vendors: CatalogVendor[] } }
  'catalog.viz.landsat': { input: Record<string, never>; output: PublicVisualizations }
  'catalog.viz.naip': { input: Record<string, never>; output: PublicVisualizations }
  'cog.colormaps': { input: Record<string, never>; output: { groups: { name: string; colormaps: Colormap[] }[] } }
  'cog.formulas': { input: Record<string, never>; output: Record<string, unknown> }
  'cog.statistics': {
    input: {
      url: string
      geometry: Record<string, unknown>
      expression?: string | null
      bands?: string | null
      percentiles?: number[]
      exact_coverage?: boolean
    }
    output: { statistics: BandStatistics[]; rescale: string | null; pixel_count: number; level: number }
  }
  'cog.thumbnail': { input: { url: string; width?: number; height?: number }; output: string }
  'cog.tile.render': {
    input: {
      url?: string
      source?: string
      z: number
      x: number
      y: number
      format: 'png' | 'webp' | 'jpg' | 'jpeg'
      bands?: string | null
      expression?: string | null
      visualization?: string | null
      rescale?: string | null
      colormap?: string | null
      quality?: number
      aoi?: string | null
      tile_size?: 256 | 512 | null
      resampling?: 'nearest' | 'bilinear' | 'cubic' | 'average' | null
    }
    output: string
  }
  'cog.tile.terrain': { input: { url: string; z: number; x: number; y: number; invert?: boolean; aoi?: string | null }; output: string }
  'collections.create': {
    input: {
      project_id: string
      name: string
      description?: string | null
      color?: string | null
      show_on_map?: boolean
      layer_order?: number
    }
    output: Collection
  }
  'collections.delete': { input: { project_id: string; collection_id: string }; output: { ok: true; id: string } }
  'collections.get': { input: { project_id: string; collection_id: string }; output: Collection }
  'collections.list': { input: { project_id: string }; output: Collection[] }
  'collections.tile.render': {
    input: {
      collection_id: string
      z: number
      x: number
      y: number
      format?: 'png' | 'webp' | 'jpg' | 'jpeg'
      profile?: string | null
      asset_key?: string | null
      bands?: string | null
      expression?: string | null
      rescale?: string | null
      colormap?: string | null
      quality?: number
      tile_size?: 256 | 512 | null
    }
    output: string
  }
  'collections.tile.tilejson': {
    input: {
      collection_id: string
      profile?: string | null
      asset_key?: string | null
      key?: string | null
      format?: 'png' | 'webp' | 'jpg' | 'jpeg'
      tile_size?: 256 | 512 | null
    }
    output: TileJson
  }
  'collections.update': {
    input: {
      project_id: string
      collection_id: string
      name?: string | null
      description?: string | null
      color?: string | null
      show_on_map?: boolean | null
      layer_order?: number | null
    }
    output: Collection
  }
  'eulas.document.accept': { input: { eula_id: string; document_id: string; is_accepted?: boolean }; output: EulaDocument }
  'eulas.document.get': { input: { eula_id: string; document_id: string }; output: EulaDocument }
  'eulas.documents.list': {
    input: { eula_id: string; page?: number; size?: number; sort?: 'validFrom,desc' | 'validFrom,asc' }
    output: { content: EulaDocumentEntry[]; page: number; size: number; totalElements: number; totalPages: number }
  }
  'eulas.get': { input: { eula_id: string }; output: Eula }
  'eulas.list': {
    input: { term?: string | null; page?: number; size?: number; sort?: 'createdAt,desc' | 'createdAt,asc' | 'name,asc' | 'name,desc' }
    output: { content: Eula[]; page: number; size: number; totalElements: number; totalPages: number }
  }
  'glossary.collections.get': { input: { collection_name: string }; output: GlossaryCollection }
  'glossary.collections.list': {
    input: {
      integrations?: string | null
      type?: 'ARCHIVE' | 'TASKING' | null
      page?: number
      size?: number
      sort?: 'name,asc' | 'name,desc' | 'title,asc' | 'title,desc' | null
    }
    output: { content: GlossaryCollection[]; page: number; size: number; totalElements: number; totalPages: number }
  }
  'glossary.data_products.get': { input: { data_product_name: string }; output: GlossaryProduct }
  'glossary.data_products.list': {
    input: {
      dataProductId?: string | null
      page?: number
      size?: number
      sort?: 'name,asc' | 'name,desc' | 'title,asc' | 'title,desc' | null
    }
    output: { content: GlossaryProduct[]; page: number; size: number; totalElements: number; totalPages: number }
  }
  'glossary.providers.get': { input: { provider_name: string }; output: GlossaryProvider }
  'glossary.providers.list': {
    input: {
      page?: number
      size?: number
      sort?: 'name,asc' | 'name,desc' | 'title,asc' | 'title,desc' | null
      role?: 'PRODUCER' | 'HOST' | null
    }
    output: { content: GlossaryProvider[]; page: number; size: number; totalElements: number; totalPages: number }
  }
  'items.asset.download': {
    input: { item_id: string; asset_id: string }
    output: { url: string; expires_in_seconds: number; asset_id: string; size_bytes: number | null; media_type: string | null }
  }
  'items.create': {
    input: {
      project_id: string
      collection_id?: string | null
      stac_id?: string | null
      type:
        | 'satellite_capture'
        | 'derived_raster'
        | 'derived_vector'
        | 'clip'
        | 'user_raster'
        | 'user_vector'
        | 'external_reference'
        | 'mosaic'
      geometry?: Record<string, unknown> | null
      bbox?: number[] | null
      datetime?: string | null
      start_datetime?: string | null
      end_datetime?: string | null
      cloud_cover?: number | null
      gsd?: number | null
      name: string
      description?: string | null
      properties?: Record<string, unknown>
      stac_extensions?: string[]
      order_id?: string | null
      upload_id?: string | null
      job_id?: string | null
      assets?: { key: string; href: string; media_type?: string | null; roles?: string[]; title?: string | null }[]
    }
    output: Item
  }
  'items.delete': { input: { item_id: string }; output: { ok: true; id: string } }
  'items.detect_asset_bands': {
    input: { item_id: string; asset_id?: string | null }
    output: {
      bands: { index: number; name: string; role: string | null; data_type: string | null }[]
      source: 'file' | 'stac' | 'color' | 'band_count'
      suggested_band_names: string[]
      current_band_names: string[]
      method: string
    }
  }
  'items.duplicate': {
    input: { item_id: string; new_name?: string | null; target_collection_id?: string | null; target_project_id?: string | null }
    output: Item
  }
  'items.get': { input: { item_id: string }; output: { item: Item } }
  'items.import_stac': {
    input: { project_id: string; collection_id?: string | null; features?: Record<string, unknown>; ndjson?: string }
    output: { created: number; skipped: number; errors: { index: number; id: string | null; message: string }[] }
  }
  'items.lineage': { input: { item_id: string }; output: { item_id: string; parents: LineageParent[]; children: LineageChild[] } }
  'items.list': {
    input: { project_id: string; collection_id?: string | null; uncollected?: boolean; limit?: number; offset?: number }
    output: { items: Item[]; total: number }
  }
  'items.list_assets': { input: { item_id: string }; output: Asset[] }
  'items.list_by_collection': {
    input: { collection_id: string; limit?: number; offset?: number }
    output: { items: Item[]; total: number }
  }
  'items.point': {
    input: {
      item_id: string
      longitude: number
      latitude: number
      asset_key?: string | null
      expression?: string | null
      profile?: string | null
    }
    output: {
      item_id: string
      asset_key: string
      longitude: number
      latitude: number
      inside: boolean
      bands: { band: number; name: string | null; value: number | null }[]
      results: { expression: string; value: number | null }[]
    }
  }
  'items.search': {
    input: {
      project_id: string
      bbox?: number[] | null
      datetime?: string | null
      collections?: string[] | null
      type?:
        | 'satellite_capture'
        | 'derived_raster'
        | 'derived_vector'
        | 'clip'
        | 'user_raster'
        | 'user_vector'
        | 'external_reference'
        | 'mosaic'
        | null
      query?: Record<string, unknown> | null
      sortby?: { field: string; direction?: 'asc' | 'desc' }[] | null
      limit?: number
      offset?: number
      format?: 'stac' | null
      base_url?: string | null
    }
    output: {
      type: 'FeatureCollection'
      features: ItemFeature[]
      numberMatched: number
      numberReturned: number
      numberMatchedEstimated?: true
    }
  }
  'items.search_org': {
    input: {
      bbox?: number[] | null
      datetime?: string | null
      collections?: string[] | null
      type?:
        | 'satellite_capture'
        | 'derived_raster'
        | 'derived_vector'
        | 'clip'
        | 'user_raster'
        | 'user_vector'
        | 'external_reference'
        | 'mosaic'
        | null
      query?: Record<string, unknown> | null
      sortby?: { field: string; direction?: 'asc' | 'desc' }[] | null
      limit?: number
      offset?: number
      format?: 'stac' | null
      base_url?: string | null
    }
    output: {
      type: 'FeatureCollection'
      features: ItemFeature[]
      numberMatched: number
      numberReturned: number
      numberMatchedEstimated?: true
    }
  }
  'items.set_asset_band_names': { input: { item_id: string; asset_id: string; band_names: string[] }; output: Asset }
  'items.tile.render': {
    input: {
      item_id: string
      z: number
      x: number
      y: number
      format?: 'png' | 'webp' | 'jpg' | 'jpeg'
      profile?: string | null
      asset_key?: string | null
      bands?: string | null
      expression?: string | null
      rescale?: string | null
      colormap?: string | null
      v?: number | null
      quality?: number
      tile_size?: 256 | 512 | null
    }
    output: string
  }
  'items.tile.statistics': {
    input: { item_id: string; expression?: string | null; bands?: string | null; asset_key?: string | null; profile?: string | null }
    output: { p2: number | null; p98: number | null; min: number | null; max: number | null; rescale: string | null; results: ItemRange[] }
  }
  'items.tile.tilejson': {
    input: {
      item_id: string
      profile?: string | null
      asset_key?: string | null
      key?: string | null
      format?: 'png' | 'webp' | 'jpg' | 'jpeg'
      tile_size?: 256 | 512 | null
    }
    output: TileJson
  }
  'items.tile.wmts_capabilities': {
    input: { item_id: string; base_url: string; key?: string | null; profile?: string | null; asset_key?: string | null }
    output: string
  }
  'items.tile.wmts_get_tile': {
    input: { item_id: string; z: number; x: number; y: number; profile?: string | null; asset_key?: string | null; format?: 'webp' | 'png' }
    output: string
  }
  'items.update': {
    input: {
      item_id: string
      collection_id?: string | null
      name?: string | null
      description?: string | null
      geometry?: Record<string, unknown> | null
      bbox?: number[] | null
      datetime?: string | null
      cloud_cover?: number | null
      gsd?: number | null
      properties?: Record<string, unknown> | null
      lifecycle_state?: 'active' | 'expiring' | 'archived' | 'expired' | 'deleted' | null
    }
    output: Item
  }
  'organizations.audit.list': {
    input: { operation?: string | null; user_id?: string | null; from?: string | null; to?: string | null; limit?: number; offset?: number }
    output: { entries: AuditEntry[]; count: number }
  }
  'organizations.commitments.list': {
    input: { commitment_id?: string | null; include_line_items?: boolean }
    output: { commitments: Commitment[] }
  }
  'organizations.commitments.statement': {
    input: { organization_id: string; period?: string | null }
    output: {
      organization_id: string
      period: string
      currency: 'AUD'
      lines: StatementLine[]
      subtotal_aud: number
      gst_aud: number
      total_aud: number
      commitments: StatementCommitment[]
      settled_at: string
    }
  }
  'organizations.create': {
    input: {
      name: string
      description?: string | null
      website?: string | null
      industry?: string | null
      size?: string | null
      country?: string | null
      abn?: string | null
      tax_number?: string | null
      billing_email?: string | null
      billing_admin_id?: string | null
      billing_address?: Record<string, unknown> | null
      enterprise_billing?: boolean
    }
    output: Organization
  }
  'organizations.get': { input: Record<string, never>; output: Organization }
  'organizations.invitations.list': { input: { limit?: number; offset?: number }; output: { invitations: Invitation[]; total: number } }
  'organizations.invitations.revoke': { input: { invitation_id: string }; output: { ok: true; id: string } }
  'organizations.members.invite': { input: { email: string; role?: 'admin' | 'member' }; output: { invitation: NewInvitation } }
  'organizations.members.list': { input: { organizationId: string }; output: { members: OrganizationMember[]; count: number } }
  'organizations.members.remove': { input: { user_id: string }; output: { ok: true; id: string } }
  'organizations.members.set_role': { input: { user_id: string; role: 'owner' | 'admin' | 'member' }; output: OrganizationMember }
  'organizations.members.set_spend_limit': {
    input: { organizationId: string; userId: string; perOrderLimitCredits: number | null; spendLimitCredits: number | null }
    output: OrganizationMember
  }
  'payment_methods.attach': { input: { payment_method_id: string }; output: PaymentMethod }
  'payment_methods.create_setup_intent': {
    input: Record<string, never>
    output: { client_secret: string; setup_intent_id: string; customer_id: string; env: string }
  }
  'payment_methods.detach': {
    input: { payment_method_row_id: string }
    output: {
      ok: true
      id: string
      brand: string
      last4: string
      exp_month: number
      exp_year: number
      is_default: boolean
      isDefault: boolean
    }
  }
  'payment_methods.list': { input: Record<string, never>; output: { payment_methods: PaymentMethod[]; count: number } }
  'payment_methods.set_default': { input: { payment_method_row_id: string }; output: PaymentMethod }
  'projects.add_member': {
    input: { project_id: string; user_id?: string; email?: string; role?: 'admin' | 'editor' | 'viewer' }
    output: AddedProjectMember
  }
  'projects.archive': {
    input: { project_id: string; name?: string | null; description?: string | null; is_archived?: boolean | null }
    output: Project
  }
  'projects.create': {
    input: {
      name: string
      description?: string | null
      gcs_region?: 'australia-southeast1' | 'asia-southeast1' | 'us-west1' | 'europe-west1'
      visibility?: 'organization' | 'private'
    }
    output: Project
  }
  'projects.delete': { input: { project_id: string }; output: { deleted: true; project_id: string; storage_freed_bytes: number } }
  'projects.get': { input: { project_id: string }; output: ProjectWithMembers }
  'projects.list': {
    input: { include_archived?: boolean; limit?: number; offset?: number }
    output: { projects: Project[]; total: number }
  }
  'projects.remove_member': { input: { project_id: string; user_id?: string; email?: string }; output: { ok: true } }
  'projects.update': {
    input: {
      project_id: string
      name?: string | null
      description?: string | null
      visibility?: 'organization' | 'private' | null
      is_archived?: boolean | null
    }
    output: Project
  }
  'projects.update_member': { input: { project_id: string; user_id: string; role: 'admin' | 'editor' | 'viewer' }; output: ProjectMember }
  'provenance.get': {
    input: {
      entity_type: 'item' | 'order' | 'processing_job' | 'collection' | 'project'
      entity_id: string
      direction?: 'up' | 'down' | 'both'
      max_depth?: number
    }
    output: {
      root: { entity_type: string; entity_id: string }
      direction: 'up' | 'down' | 'both'
      edges: LineageEdge[]
      nodes: LineageNode[]
      truncated: boolean
    }
  }
  'share.asset.download': {
    input: { token: string; password?: string; asset_id: string }
    output: { url: string; expires_in_seconds: number; asset_id: string; size_bytes: number | null; media_type: string | null }
  }
  'share.link.create': {
    input: { target_type: 'item' | 'collection'; target_id: string; permission?: 'view' | 'download'; password: string; expires_at: string }
    output: NewShareLink
  }
  'share.link.revoke': { input: { link_id: string }; output: { ok: true; id: string } }
  'share.link.validate': {
    input: { token: string; password?: string }
    output: {
      permission: 'view' | 'download'
      target_type: 'item' | 'collection'
      target:
        | {
            id: string
            name: string
            description: string | null
            type:
              | 'satellite_capture'
              | 'derived_raster'
              | 'derived_vector'
              | 'clip'
              | 'user_raster'
              | 'user_vector'
              | 'external_reference'
              | 'mosaic'
            bbox: number[] | null
            geometry: Record<string, unknown> | null
            datetime: string | null
            cloud_cover: number | null
            gsd: number | null
            visualizations: {
              id: string
              label: string
              kind: 'rgb' | 'index' | 'elevation' | 'raw'
              bands: number[] | null
              expression: string | null
              colormap: string | null
              rescale: string | null
              category: string | null
              is_default: boolean
              description: string
            }[]
            tilejson: string | null
            assets?: {
              id: string
              key: string
              title: string | null
              media_type: string | null
              file_name: string
              file_size_bytes: number | null
              url: string
              url_expires_at: string
            }[]
            grant: string
            grant_expires_at: string
          }
        | {
            id: string
            name: string
            description: string | null
            items: SharedItem[]
            item_count: number
            grant: string
            grant_expires_at: string
          }
    }
  }
  'share.links.list': {
    input: {
      project_id?: string | null
      target_type?: 'item' | 'collection' | null
      target_id?: string | null
      limit?: number
      offset?: number
    }
    output: { share_links: ShareLink[]; count: number; total: number }
  }
  'share.tile.render': {
    input: {
      token: string
      password?: string
      z: number
      x: number
      y: number
      format?: 'png' | 'webp' | 'jpg' | 'jpeg'
      profile?: string | null
      tile_size?: 256 | 512 | null
    }
    output: string
  }
  'share.tilejson': {
    input: { token: string; password?: string; profile?: string | null }
    output: {
      tilejson: '3.0.0'
      name: string
      description?: string
      version: string
      scheme: 'xyz'
      tiles: string[]
      minzoom: number
      maxzoom: number
      bounds: number[]
      center: number[]
      visualizations: {
        id: string
        label: string
        kind: 'rgb' | 'index' | 'elevation' | 'raw'
        bands: number[] | null
        expression: string | null
        colormap: string | null
        rescale: string | null
        category: string | null
        is_default: boolean
        description: string
      }[]
    }
  }
  'uploads.complete': { input: { upload_id: string }; output: { id: string; item_ids: string[] } }
  'uploads.fail': { input: { upload_id: string; error_message: string; error_step?: string | null }; output: Upload }
  'uploads.initiate': {
    input: {
      project_id: string
      transfer_method?: 'signed_url' | 'browser'
      file_count?: number
      total_bytes?: number
      target_collection_id?: string | null
      target_item_id?: string | null
      asset_key?: string | null
      is_categorical?: boolean
    }
    output: { id: string }
  }
  'uploads.progress': {
    input: { upload_id: string; status?: 'uploading' | 'uploaded' | null; bytes_uploaded?: number | null }
    output: Upload
  }
  'uploads.signed_url': {
    input: { upload_id: string; file_name: string; content_type?: string }
    output: { upload_url: string; object_path: string }
  }
  'usage.current': {
    input: { organization_id?: string }
    output: {
      organization_id: string
      plan_id: string
      period: string
      storage_bytes: number
      egress_bytes: number
      tiles: number
      compute_jobs: number
      api_calls: number
      storage_reserved_bytes: number
      egress_bytes_last_24h: number
      limits: { storage_bytes: number; egress_bytes_per_24h: number; compute_jobs: number }
      as_of: string
    }
  }
  'usage.history': {
    input: { organization_id?: string; months?: number; from?: string; to?: string; granularity?: 'day' | 'month' }
    output: {
      organization_id: string
      granularity: 'day' | 'month'
      points: { period: string; storage_bytes: number; egress_bytes: number; tiles: number; compute_jobs: number; api_calls: number }[]
    }
  }
  'usage.recalculate_storage': { input: { organization_id?: string }; output: { previous_bytes: number; storage_bytes: number } }
  'visualization.list_for': {
    input: { band_roles?: Record<string, unknown>; data_type?: string; render_params?: Record<string, unknown>; asset?: string | null }
    output: { visualizations: Visualization[]; default_id: string | null }
  }
  'visualization.profile.create': {
    input: {
      item_id: string
      name: string
      layer?: 'sensor' | 'auto' | 'user'
      type: 'rgb' | 'singleband' | 'multiband' | 'expression'
      is_default?: boolean
      sort_order?: number
      config: {
        bands?: number[] | null
        expression?: string | null
        colormap?: string | null
        rescale?: string | null
        color_table?: boolean | null
        resampling?: 'nearest' | 'bilinear' | 'cubic' | 'average' | null
      }
      asset_key?: string | null
    }
    output: VisualizationProfile
  }
  'visualization.profile.delete': { input: { item_id: string; profile_id: string }; output: { ok: true; id: string } }
  'visualization.profile.get': { input: { item_id: string; profile_id: string }; output: VisualizationProfile }
  'visualization.profile.set_default': { input: { item_id: string; profile_id: string }; output: VisualizationProfile }
  'visualization.profile.update': {
    input: {
      item_id: string
      profile_id: string
      name?: string | null
      type?: 'rgb' | 'singleband' | 'multiband' | 'expression' | null
      is_default?: boolean | null
      sort_order?: number | null
      config?: {
        bands?: number[] | null
        expression?: string | null
        colormap?: string | null
        rescale?: string | null
        color_table?: boolean | null
        resampling?: 'nearest' | 'bilinear' | 'cubic' | 'average' | null
      } | null
      asset_key?: string | null
    }
    output: VisualizationProfile
  }
  'visualization.profiles.list': { input: { item_id: string }; output: VisualizationProfile[] }
}
export type AddedProjectMember = {
  project_id: string
  user_id: string | null
  email: string
  name: string | null
  role: 'admin' | 'editor' | 'viewer'
  status: 'active' | 'invited'
  created_at: string
  expires_at: string | null
  invitation?: NewInvitation
}
export type ApiKey = {
  id: string
  prefix: string
  name: string
  permissions: ('read' | 'write' | 'process')[]
  rate_limit: number | null
  is_active: boolean
  expires_at: string | null
  created_at: string
  last_used_at: string | null
  total_requests: number
  explicit_scopes?: string[]
}
export type Asset = {
  id: string
  item_id: string
  key: string
  title: string | null
  media_type: string | null
  roles: string[]
  href: string
  file_size_bytes: number | null
  band_names: string[] | null
  state: 'ready' | 'converting'
  created_at: string
  updated_at: string
}
export type AuditEntry = {
  invocation_id: string
  at: string
  operation: string
  principal_kind: string
  principal_id: string
  user_id: string | null
  api_key_id: string | null
  input_sha256: string | null
  status: number
  duration_ms: number
  artifacts: string[]
}
export type AutoTopup = {
  enabled: boolean
  threshold_credits: number | null
  topup_amount_credits: number | null
  daily_charge_cap_aud: number | null
}
export type BandStatistics = {
  name: string
  min: number | null
  max: number | null
  mean: number | null
  std: number | null
  count: number
  valid_fraction: number
  percentiles: { percentile: number; value: number | null }[]
  histogram: { counts: number[]; edges: number[] }
}
export type CatalogScene = {
  type: 'Feature'
  stac_version: '1.0.0'
  id: string
  collection: string
  geometry: Record<string, unknown> | null
  bbox?: number[]
  properties: Record<string, unknown>
  assets: Record<string, unknown>
  links: { rel: string; href: string; type?: string; method?: string; body?: Record<string, unknown> }[]
}
export type CatalogSource = {
  id: string
  title: string
  description: string
  host_name: string
  access_model: 'open' | 'commercial'
  scope: 'global' | 'regional' | 'national'
  countries: string[]
  attribution: string
  license: string
  render_strategy: 'cog' | 'preview' | 'points' | 'none'
  simulated: boolean
  collections: SourceCollection[]
}
export type CatalogVendor = {
  host_name: string
  title: string
  description: string
  access_model: 'open' | 'commercial'
  is_priced: boolean
  can_task: boolean
  collections: string[]
  simulated: boolean
}
export type Collection = {
  id: string
  project_id: string
  name: string
  description: string | null
  color: string | null
  show_on_map: boolean
  layer_order: number
  auto_created: boolean
  source_type: string | null
  source_id: string | null
  item_count: number
  deleted_at: string | null
  created_at: string
  updated_at: string
}
export type Colormap = { id: string; name: string; stops: { position: number; color: string }[] }
export type Commitment = {
  id: string
  name: string
  products: string[]
  period_start: string
  period_end: string
  minimum_aud: number | null
  minimum_km2: number | null
  rates: CommitmentRate[]
  delivered_to_date: number
  remaining: number
  shortfall: number
  shortfall_aud: number
  status: 'upcoming' | 'active' | 'met' | 'shortfall'
  line_items: CommitmentLineItem[] | null
}
export type CommitmentLineItem = {
  reference_type: string
  reference_id: string
  product: string | null
  area_km2: number | null
  credits: number
  aud: number
  settled_at: string
}
export type CommitmentRate = { product: string; credits_per_km2: number | null; discount_percent: number | null }
export type CountedSource = { source_id: string; title: string; count: number; error: string | null }
export type CreditTransaction = {
  id: string
  type: 'grant' | 'topup' | 'bonus' | 'reservation' | 'capture' | 'release' | 'refund' | 'adjustment'
  credits: number
  balance_after: number
  available_after: number
  reference_type: string | null
  reference_id: string | null
  description: string | null
  created_at: string
}
export type Eula = {
  id: string
  name: string
  data_products: { id: string; name: string; title: string }[]
  accepted: boolean
  accepted_at: string | null
  current_document_id: string
  created_at: string
}
export type EulaDocument = {
  id: string
  eula_id: string
  version: string
  language: string
  valid_from: string
  is_current: boolean
  accepted: boolean
  accepted_at: string | null
  text: string
  url: string | null
}
export type EulaDocumentEntry = {
  id: string
  eula_id: string
  version: string
  language: string
  valid_from: string
  is_current: boolean
  accepted: boolean
  accepted_at: string | null
}
export type FormulaTemplate = {
  name: string
  expression: string
  bands: string[]
  colormap: string
  rescale: string
  category: string
  reference: string
}
export type GlossaryCollection = {
  name: string
  title: string
  description: string
  type: 'ARCHIVE' | 'TASKING'
  hostName: string
  dataType: string
  resolutionMeters: number | null
  bands: { name: string; role: string | null }[]
  providers: { name: string; title: string; roles: string[] }[]
  dataProducts: GlossaryProductEntry[]
  integrations: string[]
  simulated: boolean
}
export type GlossaryProduct = {
  id: string
  name: string
  title: string
  description: string
  type: 'ARCHIVE' | 'TASKING'
  collectionName: string
  hostName: string
  resolutionMeters: number
  eulaId: string | null
  licenseTypes: string[]
  steps: ('feasibility' | 'quotation')[]
  schema: Record<string, unknown>
  simulated: boolean
}
export type GlossaryProductEntry = { id: string; name: string; title: string; eulaId: string | null }
export type GlossaryProvider = {
  name: string
  title: string
  description: string
  roles: ('PRODUCER' | 'HOST')[]
  url: string | null
  collections: { name: string; title: string; hostName: string }[]
}
export type Grant = {
  access_token: string
  token_type: 'Bearer'
  expires_in: number
  refresh_token?: string
  user: { id: string; email: string; name: string }
  organization_id: string | null
}
export type Invitation = {
  id: string
  email: string
  role: 'admin' | 'member' | 'editor' | 'viewer'
  project_id: string | null
  expires_at: string
  organization_role: 'admin' | 'member'
  invited_by: string | null
  created_at: string
}
export type Invoice = {
  id: string
  number: string
  period: string
  status: 'open' | 'paid' | 'past_due'
  currency: 'AUD'
  subtotal_aud: number
  gst_aud: number
  total_aud: number
  due_aud: number
  issued_at: string
  due_at: string
  paid_at: string | null
  reference: string | null
}
export type InvoiceLine = {
  kind: 'plan' | 'order' | 'job' | 'shortfall'
  description: string
  reference_id: string | null
  quantity: number
  amount_aud: number
}
export type Item = {
  id: string
  project_id: string
  collection_id: string | null
  stac_id: string
  type: 'satellite_capture' | 'derived_raster' | 'derived_vector' | 'clip' | 'user_raster' | 'user_vector' | 'external_reference' | 'mosaic'
  geometry: Record<string, unknown> | null
  bbox: number[] | null
  datetime: string | null
  start_datetime: string | null
  end_datetime: string | null
  cloud_cover: number | null
  gsd: number | null
  name: string
  description: string | null
  properties: Record<string, unknown>
  stac_extensions: string[]
  lifecycle_state: 'active' | 'expiring' | 'archived' | 'expired' | 'deleted'
  expires_at: string | null
  archived_at: string | null
  previous_version_id: string | null
  duplicated_from_id: string | null
  order_id: string | null
  upload_id: string | null
  job_id: string | null
  deleted_at: string | null
  created_by: string | null
  created_at: string
  updated_at: string
}
export type ItemFeature = {
  type: 'Feature'
  stac_version: '1.0.0'
  stac_extensions: string[]
  id: string
  collection?: string
  geometry: Record<string, unknown> | null
  bbox?: number[]
  properties: Record<string, unknown>
  assets: Record<string, unknown>
  links: { rel: string; href: string; type: string }[]
}
export type ItemRange = { name: string; p2: number | null; p98: number | null; min: number | null; max: number | null }
export type LineageChild = {
  item_id: string
  name: string
  type: 'satellite_capture' | 'derived_raster' | 'derived_vector' | 'clip' | 'user_raster' | 'user_vector' | 'external_reference' | 'mosaic'
  relation: string
  truncated?: true
  children: LineageChild[]
}
export type LineageEdge = {
  depth: number
  src_type: string
  src_id: string
  dst_type: string
  dst_id: string
  relation: string
  invocation_id: string
}
export type LineageNode = { entity_type: string; entity_id: string; depth: number }
export type LineageParent = {
  item_id: string
  name: string
  type: 'satellite_capture' | 'derived_raster' | 'derived_vector' | 'clip' | 'user_raster' | 'user_vector' | 'external_reference' | 'mosaic'
  relation: string
  truncated?: true
  parents: LineageParent[]
}
export type NewInvitation = {
  id: string
  email: string
  role: 'admin' | 'member' | 'editor' | 'viewer'
  project_id: string | null
  expires_at: string
  url: string
}
export type NewShareLink = {
  id: string
  target_type: 'item' | 'collection'
  target_id: string
  permission: 'view' | 'download'
  organization_id: string
  project_id: string
  expires_at: string
  revoked_at: string | null
  access_count: number
  last_accessed_at: string | null
  created_by: string | null
  created_at: string
  token: string
}
export type Organization = {
  id: string
  name: string
  slug: string
  description: string | null
  website: string | null
  industry: string | null
  size: string | null
  country: string | null
  abn: string | null
  tax_number: string | null
  billing_email: string | null
  billing_admin_id: string | null
  billing_address: Record<string, unknown> | null
  plan: string
  billing_mode: 'credit' | 'card' | 'enterprise'
  enterprise_billing: boolean
  enterprise_billing_status: 'none' | 'requested' | 'confirmed'
  created_at: string
}
export type OrganizationMember = {
  user_id: string
  email: string
  name: string
  role: 'owner' | 'admin' | 'member'
  per_order_limit_credits: number | null
  spend_limit_credits: number | null
}
export type PaymentMethod = {
  id: string
  brand: string
  last4: string
  exp_month: number
  exp_year: number
  is_default: boolean
  isDefault: boolean
}
export type Plan = {
  id: string
  name: string
  monthly_aud: number
  storage_bytes: number
  compute_jobs: number
  egress_bytes: number
  retention: {
    expiring_after_days: number | null
    expired_after_days: number | null
    deleted_after_days: number | null
    archived_after_idle_days: number | null
  }
}
export type Problem = {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code:
    | 'bad-request'
    | 'asset-not-ready'
    | 'invalid-json'
    | 'invalid-idempotency-key'
    | 'unauthorized'
    | 'insufficient-credits'
    | 'payment-method-required'
    | 'card-declined'
    | 'authentication-required'
    | 'spend-limit-exceeded'
    | 'storage-quota-exceeded'
    | 'compute-quota-exceeded'
    | 'subscription-past-due'
    | 'forbidden'
    | 'missing-scope'
    | 'organization-required'
    | 'licence-acceptance-required'
    | 'sign-up-refused'
    | 'invalid-signature'
    | 'expired-signature'
    | 'not-found'
    | 'unknown-operation'
    | 'method-not-allowed'
    | 'request-timeout'
    | 'idempotency-conflict'
    | 'idempotency-in-progress'
    | 'upload-offset'
    | 'gone'
    | 'length-required'
    | 'precondition-failed'
    | 'payload-too-large'
    | 'object-too-large'
    | 'unsupported-media-type'
    | 'range-not-satisfiable'
    | 'invalid-input'
    | 'unreadable-raster'
    | 'raster-too-demanding'
    | 'rate-limited'
    | 'egress-limited'
    | 'too-many-attempts'
    | 'internal-error'
    | 'provenance-error'
    | 'bad-gateway'
    | 'gateway-timeout'
    | 'payment-processor-outage'
    | 'billing-not-configured'
    | 'unavailable'
    | 'insufficient-storage'
  errors?: { field: string; message: string }[]
}
export type ProcessorInvoice = {
  id: string
  number: string | null
  status: string
  total_aud: number
  created_at: string
  hosted_invoice_url: string | null
}
export type Project = {
  id: string
  organization_id: string
  name: string
  description: string | null
  visibility: 'organization' | 'private'
  status: 'active' | 'archived'
  is_archived: boolean
  gcs_region: 'australia-southeast1' | 'asia-southeast1' | 'us-west1' | 'europe-west1' | null
  gcs_bucket_name: string | null
  has_storage_bucket: boolean
  item_count: number
  storage_bytes: number
  role: 'admin' | 'editor' | 'viewer' | null
  created_by: string | null
  created_at: string
  updated_at: string
  archived_at: string | null
}
export type ProjectMember = {
  project_id: string
  user_id: string | null
  email: string
  name: string | null
  role: 'admin' | 'editor' | 'viewer'
  status: 'active' | 'invited'
  created_at: string
  expires_at: string | null
}
export type ProjectWithMembers = {
  id: string
  organization_id: string
  name: string
  description: string | null
  visibility: 'organization' | 'private'
  status: 'active' | 'archived'
  is_archived: boolean
  gcs_region: 'australia-southeast1' | 'asia-southeast1' | 'us-west1' | 'europe-west1' | null
  gcs_bucket_name: string | null
  has_storage_bucket: boolean
  item_count: number
  storage_bytes: number
  role: 'admin' | 'editor' | 'viewer' | null
  created_by: string | null
  created_at: string
  updated_at: string
  archived_at: string | null
  members: ProjectMember[]
}
export type ProviderSample = {
  scene_id: string
  title: string
  datetime: string | null
  cloud_cover: number | null
  bbox: number[] | null
  collection: string
}
export type PublicProvider = {
  provider: string
  title: string
  description: string
  collection: string
  host_name: string
  attribution: string
  visualizations: PublicVisualizations
  simulated: boolean
}
export type PublicSceneInfo = {
  scene_id: string
  provider: string
  collection: string
  datetime: string | null
  cloud_cover: number | null
  bounds: number[]
  bands: { index: number; name: string; role: string | null }[]
  min_zoom: number
  max_zoom: number
  width: number
  height: number
  data_type: string
  statistics: {
    min: number | null
    max: number | null
    mean: number | null
    std: number | null
    p2: number | null
    p98: number | null
    valid_fraction: number
  }[]
  attribution: string
}
export type PublicVisualizations = {
  visualizations: {
    id: string
    label: string
    kind: 'rgb' | 'index' | 'elevation' | 'raw'
    bands: number[] | null
    expression: string | null
    colormap: string | null
    rescale: string | null
    description: string
  }[]
  default_id: string | null
  tile_template: string
  attribution: string
}
export type Quota = { used: number; limit: number }
export type SceneBucket = { day?: string | null; source_id?: string; cloud?: string | null; count: number }
export type ShareLink = {
  id: string
  target_type: 'item' | 'collection'
  target_id: string
  permission: 'view' | 'download'
  organization_id: string
  project_id: string
  expires_at: string
  revoked_at: string | null
  access_count: number
  last_accessed_at: string | null
  created_by: string | null
  created_at: string
}
export type SharedItem = {
  id: string
  name: string
  description: string | null
  type: 'satellite_capture' | 'derived_raster' | 'derived_vector' | 'clip' | 'user_raster' | 'user_vector' | 'external_reference' | 'mosaic'
  bbox: number[] | null
  geometry: Record<string, unknown> | null
  datetime: string | null
  cloud_cover: number | null
  gsd: number | null
  visualizations: {
    id: string
    label: string
    kind: 'rgb' | 'index' | 'elevation' | 'raw'
    bands: number[] | null
    expression: string | null
    colormap: string | null
    rescale: string | null
    category: string | null
    is_default: boolean
    description: string
  }[]
  tilejson: string | null
  assets?: {
    id: string
    key: string
    title: string | null
    media_type: string | null
    file_name: string
    file_size_bytes: number | null
    url: string
    url_expires_at: string
  }[]
}
export type SourceCollection = {
  id: string
  title: string
  description: string
  data_type: 'raster' | 'dem' | 'pointcloud' | 'altimetry' | 'vector'
  gsd: number | null
  bands: { name: string; role: string | null }[]
}
export type SourceReport = { source_id: string; title: string; count: number; error: string | null }
export type SpendApproval = {
  id: string
  status: 'pending' | 'approved' | 'rejected' | 'used' | 'expired'
  credits: number | null
  operation: string | null
  input: Record<string, unknown> | null
  reason: string | null
  requested_by: string
  decided_by: string | null
  decision_reason: string | null
  created_at: string
  decided_at: string | null
  expires_at: string
  used_at: string | null
}
export type StatementCommitment = {
  id: string
  name: string
  delivered_to_date: number
  remaining: number
  shortfall: number
  status: string
}
export type StatementLine = {
  kind: 'plan' | 'order' | 'job' | 'shortfall'
  description: string
  reference_id: string | null
  quantity: number
  amount_aud: number
}
export type TileJson = {
  tilejson: '3.0.0'
  name: string
  description?: string
  version: string
  scheme: 'xyz'
  tiles: string[]
  minzoom: number
  maxzoom: number
  bounds: number[]
  center: number[]
}
export type Upload = {
  id: string
  project_id: string
  status: 'initiated' | 'uploading' | 'completed' | 'failed'
  file_count: number
  total_bytes: number
  bytes_uploaded: number
  reserved_bytes: number
  target_collection_id: string | null
  target_item_id: string | null
  asset_key: string | null
  is_categorical: boolean
  item_ids: string[]
  error_step: string | null
  error_message: string | null
  files: UploadFile[]
  created_at: string
  updated_at: string
  expires_at: string | null
  completed_at: string | null
}
export type UploadFile = {
  name: string
  object_path: string
  content_type: string
  size_bytes: number | null
  state: 'awaiting' | 'refused' | 'converting' | 'ready' | 'failed'
  step: string
  fraction: number | null
  error: string | null
  item_id: string | null
  asset_id: string | null
}
export type Visualization = {
  id: string
  label: string
  kind: 'rgb' | 'index' | 'elevation' | 'raw'
  asset: string | null
  bands: number[] | null
  expression: string | null
  colormap: string | null
  rescale: string | null
  is_default: boolean
  category: string | null
  description: string
}
export type VisualizationProfile = {
  id: string
  item_id: string
  name: string
  layer: 'sensor' | 'auto' | 'user'
  type: 'rgb' | 'singleband' | 'multiband' | 'expression'
  kind: 'rgb' | 'index' | 'raw'
  bands: number[] | null
  expression: string | null
  colormap: string | null
  rescale: string | null
  is_default: boolean
  sort_order: number
  config: {
    bands?: number[] | null
    expression?: string | null
    colormap?: string | null
    rescale?: string | null
    color_table?: boolean | null
    resampling?: 'nearest' | 'bilinear' | 'cubic' | 'average' | null
  }
  asset_key: string | null
  version: number
  created_by: string | null
  created_at: string
  updated_at: string
}
