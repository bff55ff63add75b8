/** The folder of the queues, which the engine and the host of the queues share. */
export const queues: string = process.env['PAWL_QUEUES'] || '.pawl/queues'
