"""Results beside the tables, in a store that does not take them: Weir's own errors, and some pass by themselves."""

from __future__ import annotations

import pytest

from assets.quality.data_docs import QualityFolder
from assets.storage.step_faults import passes
from tests.services.mail import free_port
from tests.services.seaweed import Store
from transforms.errors import UnreadableWarehouse, WarehouseFailed


@pytest.mark.services
def test_a_store_that_refuses_or_is_away_is_reported_as_the_warehouse(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    with monkeypatch.context() as wrong:
        wrong.setenv("AWS_PROFILE", "nobody")
        with pytest.raises(UnreadableWarehouse, match="AWS_PROFILE names a profile") as lasting:
            QualityFolder("s3a://results/lake", "zoo").write("a.json", "{}")
    assert not passes(lasting.value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(WarehouseFailed, match="nothing answers at the store's address") as passing:
        QualityFolder("s3a://results/lake", "zoo").write("a.json", "{}")
    assert passes(passing.value)
